public import Time

/// Says of whom tokens are taken.
///
/// Most answers are at hand; the rest needs somebody who is asked, and may not answer.
public struct SubjectCheck: Sendable {
    /// Whether tokens of that subject are taken, without waiting; nil where somebody has to be asked.
    public let known: @Sendable (String) -> Bool?
    /// The same by asking.
    public let ask: @Sendable (String, Deadline) async throws(ProviderStoreError) -> Bool

    /// A check that asks only where nothing is known.
    public init(
        known: @escaping @Sendable (String) -> Bool?,
        ask: @escaping @Sendable (String, Deadline) async throws(ProviderStoreError) -> Bool
    ) {
        self.known = known
        self.ask = ask
    }

    /// A check that has every answer at hand.
    public init(_ isGood: @escaping @Sendable (String) -> Bool) {
        known = { isGood($0) }
        ask = { (subject, _) async throws(ProviderStoreError) in isGood(subject) }
    }

    /// Takes tokens of everybody.
    public static let everyone = SubjectCheck { _ in true }
}
