public import Crypto
import JSON
public import Time

/// A private key that signs tokens, with the id and algorithm that they name.
public struct SigningKey: Sendable {
    /// The key id.
    public let id: String
    /// The algorithm.
    public let algorithm: SignatureAlgorithm
    /// The key.
    public let privateKey: PrivateKey

    /// A key whose id is its thumbprint (RFC 7638) unless another is given.
    public init(_ privateKey: PrivateKey, algorithm: SignatureAlgorithm, id: String? = nil) {
        self.privateKey = privateKey
        self.algorithm = algorithm
        self.id = id ?? JSONWebKey.thumbprint(of: privateKey.publicKey)
    }

    /// The public half, as the key set lists it.
    public var publicKey: JSONWebKey { JSONWebKey(privateKey.publicKey, id: id, algorithm: algorithm) }
}

/// Makes access tokens as JWTs (RFC 9068).
public struct AccessTokenMinter: Sendable {
    /// What a token says of its user.
    public struct Claims: Sendable {
        /// The user's id.
        public var subject: String
        /// The client that the token is issued to.
        public var clientID: String
        /// What it may be used for.
        public var scopes: Set<String>
        /// The grant that it belongs to; revoking that id ends the token.
        public var grantID: String?

        /// The claims of a token.
        public init(subject: String, clientID: String, scopes: Set<String>, grantID: String? = nil) {
            self.subject = subject
            self.clientID = clientID
            self.scopes = scopes
            self.grantID = grantID
        }
    }

    private let issuer: String
    private let audience: String
    private let key: SigningKey

    /// A minter whose tokens are of `issuer` and for `audience`.
    public init(issuer: String, audience: String, key: SigningKey) {
        self.issuer = issuer
        self.audience = audience
        self.key = key
    }

    /// A token that is good from `now` on for so many seconds.
    ///
    /// - Throws: `CryptoError` where the key does not sign by its algorithm.
    public func token(_ claims: Claims, lifetimeSeconds: Int64, now: UnixTime) throws(CryptoError) -> Secret {
        var header = JSONWriter(capacity: 96)
        header.beginObject()
        header.key("alg")
        header.string(key.algorithm.rawValue)
        header.key("typ")
        header.string("at+jwt")
        header.key("kid")
        header.string(key.id)
        header.endObject()
        var payload = JSONWriter(capacity: 384)
        payload.beginObject()
        for (name, value) in [
            ("iss", issuer), ("aud", audience), ("sub", claims.subject), ("client_id", claims.clientID),
            ("jti", SecureRandom.token(bytes: 16)),
        ] {
            payload.key(named: name)
            payload.string(value)
        }
        for (name, value) in [("iat", now.seconds), ("exp", now.adding(seconds: lifetimeSeconds).seconds)] {
            payload.key(named: name)
            payload.integer(value)
        }
        if !claims.scopes.isEmpty {
            payload.key("scope")
            payload.string(claims.scopes.sorted().joined(separator: " "))
        }
        if let grantID = claims.grantID {
            payload.key("grant_id")
            payload.string(grantID)
        }
        payload.endObject()
        let input = Base64URL.encode(header.bytes) + "." + Base64URL.encode(payload.bytes)
        let signature = try key.privateKey.signature(of: Array(input.utf8), algorithm: key.algorithm)
        return Secret(input + "." + Base64URL.encode(signature))
    }
}
