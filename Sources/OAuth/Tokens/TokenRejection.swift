/// Why an access token opens nothing.
///
/// The cases say what happened; what is answered is the endpoint's business. The text of ``malformed(_:)`` is ours and
/// never quotes the token.
public enum TokenRejection: Error, Hashable, Sendable {
    /// There is no token.
    case missing
    /// It is not a token of the kind that is expected; the text says what is wrong with its form.
    case malformed(String)
    /// Its algorithm is not one that its key may be used with, or none that we take.
    case algorithm
    /// Its signature is not that of the key.
    case badSignature
    /// No key of the issuer has its key id.
    case unknownKey
    /// Another issuer made it, or it names none.
    case wrongIssuer
    /// It is meant for somebody else, or for nobody.
    case wrongAudience
    /// It was issued to another client than may use it here.
    case wrongClient
    /// It is not valid yet, or says that it was issued in the future.
    case notYetValid
    /// Its time is over.
    case expired
    /// It was revoked, or the provider does not know it (any more).
    case revoked
    /// It lacks that scope.
    case lacksScope(String)
    /// It could not be judged since the provider did not answer: nothing is known against it.
    case providerUnreachable

    /// The stable code, listed in the documentation.
    public var reasonCode: String {
        switch self {
        case .missing: "token.missing"
        case .malformed: "token.malformed"
        case .algorithm: "token.algorithm"
        case .badSignature: "token.badSignature"
        case .unknownKey: "token.unknownKey"
        case .wrongIssuer: "token.wrongIssuer"
        case .wrongAudience: "token.wrongAudience"
        case .wrongClient: "token.wrongClient"
        case .notYetValid: "token.notYetValid"
        case .expired: "token.expired"
        case .revoked: "token.revoked"
        case .lacksScope: "token.lacksScope"
        case .providerUnreachable: "token.providerUnreachable"
        }
    }

    /// What there is to say beyond the code, without anything of the token but a scope's name that we asked for.
    public var detail: String? {
        switch self {
        case .malformed(let reason): reason
        case .lacksScope(let scope): "scope \(scope)"
        default: nil
        }
    }
}
