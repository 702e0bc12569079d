/// Why bytes are no JSON document.
public struct JSONError: Error, Hashable, Sendable {
    /// What is wrong, in a few words that never quote the input.
    public let reason: String

    /// An error with that reason.
    ///
    /// - Parameter reason: what is wrong; without a word of the input, since the input may hold secrets.
    public init(reason: String) { self.reason = reason }
}

extension JSONError: CustomStringConvertible {
    /// The reason.
    public var description: String { reason }
}
