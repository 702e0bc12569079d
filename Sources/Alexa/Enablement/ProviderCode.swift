public import Crypto

/// A code that our authorization server made for one of our users and for Alexa, which redeems it there.
///
/// It is a type of its own so that Amazon's code cannot be sent in its place, see ``AmazonCode``.
public struct ProviderCode: Hashable, Sendable {
    /// The code itself.
    public let secret: Secret

    /// A code as our authorization server made it.
    public init(_ secret: Secret) { self.secret = secret }
}
