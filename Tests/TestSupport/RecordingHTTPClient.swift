import Concurrency
public import HTTP
public import Time

/// An HTTP client without a network: it records what is sent and answers as the test says.
public final class RecordingHTTPClient: HTTPClient {
    /// Answers one request, or throws as a real client would.
    public typealias Answer = @Sendable (OutgoingRequest, Deadline) async throws(HTTPClientError) -> HTTPResponse

    private let recorded = Locked<[(request: OutgoingRequest, deadline: Deadline)]>([])
    private let answer: Answer

    /// A client that answers each request by `answer`.
    public init(_ answer: @escaping Answer) { self.answer = answer }

    /// A client that gives the outcomes in turn, the last one again and again; without any it is unreachable.
    public convenience init(inTurn outcomes: [Result<HTTPResponse, HTTPClientError>]) {
        let next = Locked(0)
        self.init { _, _ throws(HTTPClientError) in
            let index = next.withLock { next -> Int in
                defer { next += 1 }
                return min(next, outcomes.count - 1)
            }
            guard index >= 0 else { throw .unreachable("no outcome") }
            return try outcomes[index].get()
        }
    }

    /// What was sent, in order.
    public var requests: [OutgoingRequest] { recorded.withLock { $0.map(\.request) } }
    /// By when the answers were wanted, in order.
    public var deadlines: [Deadline] { recorded.withLock { $0.map(\.deadline) } }

    /// Records `request` and answers it.
    public func send(_ request: OutgoingRequest, by deadline: Deadline) async throws(HTTPClientError) -> HTTPResponse {
        recorded.withLock { $0.append((request, deadline)) }
        return try await answer(request, deadline)
    }
}
