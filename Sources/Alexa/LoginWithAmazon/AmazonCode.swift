public import Crypto

/// A code that Amazon gave for one of its users; Login with Amazon exchanges it for tokens.
///
/// It is a type of its own so that it cannot be sent as the code of our user, see ``ProviderCode``.
public struct AmazonCode: Hashable, Sendable {
    /// The code itself.
    public let secret: Secret

    /// A code as it came from Amazon.
    public init(_ secret: Secret) { self.secret = secret }
}
