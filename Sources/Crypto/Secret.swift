/// A text that no log, trace or error may show: it prints as `<redacted>` however it is printed.
public struct Secret: Sendable, Hashable {
    /// The text itself, for the one place that must send or compare it.
    public let exposed: String

    /// Keeps `text` from being shown.
    public init(_ text: String) { exposed = text }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// `<redacted>`.
    public var description: String { "<redacted>" }
    /// `<redacted>`.
    public var debugDescription: String { "<redacted>" }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
