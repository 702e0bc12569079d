/// The status of a link, as an app shows it.
public enum LinkStatus: String, Hashable, Sendable, CaseIterable {
    /// Linked: Alexa may act for this user.
    case linked = "LINKED"
    /// Not linked.
    case notLinked = "NOT_LINKED"
    /// Alexa has not said yet; the service finds out by itself.
    case pending = "PENDING"
    /// Nobody could be asked.
    case unknown = "UNKNOWN"
}
