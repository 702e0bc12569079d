public import Crypto
public import JSON

/// One public key as RFC 7517 writes it, and what it may verify.
public struct JSONWebKey: Sendable {
    /// The key id; only ever compared, never looked up anywhere.
    public let id: String?
    /// The key.
    public let publicKey: PublicKey
    /// The algorithms that the key may verify: the one of its `alg` member, else all that fit its kind.
    public let algorithms: [SignatureAlgorithm]

    /// The key `publicKey`, for `algorithm` alone or, where nil, for every algorithm that fits it.
    public init(_ publicKey: PublicKey, id: String?, algorithm: SignatureAlgorithm? = nil) {
        self.id = id
        self.publicKey = publicKey
        algorithms = algorithm.map { [$0] } ?? Self.algorithms(fitting: publicKey)
    }

    /// The JSON of the key, public members only: what a key set document lists.
    public var json: JSONValue {
        var object = JSONObject()
        for (name, value) in Self.members(of: publicKey) { object[name] = .string(value) }
        object["use"] = "sig"
        if algorithms.count == 1 { object["alg"] = .string(algorithms[0].rawValue) }
        if let id { object["kid"] = .string(id) }
        return .object(object)
    }

    /// The thumbprint of a key (RFC 7638 §3): SHA-256 over its required members in lexicographic order, base64url.
    public static func thumbprint(of key: PublicKey) -> String {
        let members = members(of: key).sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        let text = members.map { "\"\($0.name)\":\"\($0.value)\"" }.joined(separator: ",")
        return Base64URL.encode(SHA256.digest(Array("{\(text)}".utf8)))
    }

    static func algorithms(fitting key: PublicKey) -> [SignatureAlgorithm] {
        switch key.kind {
        case .rsa: [.rs256, .rs384, .rs512, .ps256]
        case .p256: [.es256]
        case .p384: [.es384]
        case .ed25519: [.eddsa]
        case .other: []
        }
    }

    private static func members(of key: PublicKey) -> [(name: String, value: String)] {
        if let rsa = key.rsaComponents {
            return [
                ("kty", "RSA"), ("n", Base64URL.encode(rsa.modulus)), ("e", Base64URL.encode(rsa.exponent)),
            ]
        }
        if let point = key.ecCoordinates {
            let curve = if case .p384 = key.kind { "P-384" } else { "P-256" }
            return [
                ("kty", "EC"), ("crv", curve), ("x", Base64URL.encode(point.x)), ("y", Base64URL.encode(point.y)),
            ]
        }
        return [("kty", "OKP"), ("crv", "Ed25519"), ("x", Base64URL.encode(key.ed25519Bytes ?? []))]
    }
}

/// Why a key of a set is not used.
enum KeyFault: Error {
    /// Not a kind, curve or algorithm that we take; tokens that name it get ``TokenRejection/algorithm``.
    case otherKind(String)
    /// A key that must not be trusted or is broken; tokens that name it get ``TokenRejection/unknownKey``.
    case refused(String)

    var reason: String {
        switch self {
        case .otherKind(let reason), .refused(let reason): reason
        }
    }
}

extension JSONWebKey {
    /// Members that only a private or a secret key has (RFC 7518 §6).
    private static let privateMembers = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"]

    /// Reads one key; `id` is what ``id(of:)`` said.
    init(_ element: JSONElement, id: String?, privateMembers: JSONWebKeySet.PrivateMembers) throws(KeyFault) {
        if element.repeatedMember != nil { throw .refused("a member occurs twice") }
        guard let type = element.string("kty") else { throw .refused("kty is missing") }
        guard type == "RSA" || type == "EC" || type == "OKP" else { throw .otherKind("kty is not RSA, EC or OKP") }
        let isPrivate = Self.privateMembers.contains { element.member(named: $0) != nil }
        if isPrivate, privateMembers == .refused {
            throw .refused("it has private members: whoever reads the set can sign with it")
        }
        try Self.checkUse(of: element)
        let key: PublicKey
        switch type {
        case "RSA": key = try Self.rsa(element)
        case "EC": key = try Self.elliptic(element)
        default: key = try Self.edwards(element)
        }
        guard let member = element.member("alg") else {
            self.init(key, id: id)
            return
        }
        guard let algorithm = member.string.flatMap(SignatureAlgorithm.init(rawValue:)),
            Self.algorithms(fitting: key).contains(algorithm)
        else { throw .otherKind("alg is not one that this kind of key may be used with here") }
        self.init(key, id: id, algorithm: algorithm)
    }

    /// The `kid` of a key; nil where it has none or no text.
    static func id(of element: JSONElement) -> String? { element.string("kid") }

    /// Only keys for signatures are taken (RFC 7517 §4.2 and §4.3).
    private static func checkUse(of element: JSONElement) throws(KeyFault) {
        if let use = element.member("use"), use.string != "sig" { throw .refused("use is not sig") }
        guard let operations = element.member("key_ops") else { return }
        let names = operations.elements?.map(\.string) ?? []
        guard names.contains("verify"), !names.contains(nil), Set(names).count == names.count else {
            throw .refused("key_ops does not allow verify")
        }
    }

    private static func rsa(_ element: JSONElement) throws(KeyFault) -> PublicKey {
        let modulus = try bytes("n", of: element).drop { $0 == 0 }
        let exponent = try bytes("e", of: element).drop { $0 == 0 }
        let bits = modulus.count * 8 - (modulus.first?.leadingZeroBitCount ?? 0)
        guard bits >= 2048 else { throw .refused("RSA of \(bits) bits; 2048 are needed") }
        guard bits <= 8192 else { throw .refused("RSA of \(bits) bits; 8192 are the limit") }
        guard exponent.count <= 8, let last = exponent.last, last & 1 == 1, exponent != [1] else {
            throw .refused("the RSA exponent is not usable")
        }
        do {
            return try PublicKey(rsaModulus: Array(modulus), exponent: Array(exponent))
        } catch { throw .refused("not an RSA key") }
    }

    private static func elliptic(_ element: JSONElement) throws(KeyFault) -> PublicKey {
        let curve: PublicKey.Curve
        switch element.string("crv") {
        case "P-256": curve = .p256
        case "P-384": curve = .p384
        default: throw .otherKind("crv is not P-256 or P-384")
        }
        let (x, y) = (try bytes("x", of: element), try bytes("y", of: element))
        let width = if case .p256 = curve { 32 } else { 48 }
        // RFC 7518 §6.2.1.2: always the full width of the curve.
        guard x.count == width, y.count == width else { throw .refused("a coordinate has not the width of the curve") }
        do {
            return try PublicKey(curve: curve, x: x, y: y)
        } catch { throw .refused("not a point of the curve") }
    }

    private static func edwards(_ element: JSONElement) throws(KeyFault) -> PublicKey {
        guard element.string("crv") == "Ed25519" else { throw .otherKind("crv is not Ed25519") }
        let x = try bytes("x", of: element)
        guard x.count == 32 else { throw .refused("an Ed25519 key has 32 bytes") }
        do {
            return try PublicKey(ed25519: x)
        } catch { throw .refused("not an Ed25519 key") }
    }

    private static func bytes(_ name: StaticString, of element: JSONElement) throws(KeyFault) -> [UInt8] {
        guard let text = element.string(name), let bytes = Base64URL.decode(text) else {
            throw .refused("\(name) is not base64url")
        }
        return bytes
    }
}
