import HTTP

/// Why a call to one of Amazon's servers failed, as far as that is the same for all of them: no answer came.
protocol AmazonCallError: Error {
    /// No connection came about; nothing was sent.
    static var unreachable: Self { get }
    /// TLS failed; nothing was sent.
    static var tls: Self { get }
    /// No answer in time. What was sent may have been taken.
    static var timedOut: Self { get }
    /// The connection broke, or the answer was cut. What was sent may have been taken.
    static var broken: Self { get }
    /// The caller left. What was sent may have been taken.
    static var cancelled: Self { get }
}

extension AmazonCallError {
    init(_ error: HTTPClientError) {
        switch error {
        case .unreachable, .circuitOpen, .address: self = .unreachable
        case .tls: self = .tls
        case .timedOut: self = .timedOut
        case .broken, .answerTooLarge: self = .broken
        case .cancelled: self = .cancelled
        }
    }
}
