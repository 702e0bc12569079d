import Crypto
import JSON

/// A signed text in compact form (RFC 7515 §7.1), taken apart but not yet believed.
public struct JSONWebSignature: Sendable {
    /// How long a token may be.
    public static let lengthLimit = 32 * 1024

    /// What is read of the header; `jku`, `x5u`, `jwk` and `x5c` are not, so that no token chooses its own key.
    public struct Header: Sendable {
        /// The key id of a header.
        public enum KeyID: Hashable, Sendable {
            /// The header has none.
            case absent
            /// The id.
            case text(String)
            /// The member is there, but no text: it names no key.
            case notText
        }

        /// `alg` as it stands; nil where it is missing.
        public let algorithm: String?
        /// `kid`.
        public let keyID: KeyID
        /// `typ` as it stands; nil where it is missing.
        public let type: String?
    }

    /// The header.
    public let header: Header
    /// The bytes that were signed, decoded.
    public let payload: [UInt8]
    private let signingInput: [UInt8]
    private let signature: [UInt8]

    /// Takes `text` apart.
    ///
    /// - Throws: ``TokenRejection/malformed(_:)`` where it is not of the compact form, where a part is not strict base64url, where
    ///   the header repeats a member or asks for an extension; ``TokenRejection/algorithm`` where `alg` is not a text.
    public init(compact text: String) throws(TokenRejection) {
        // As an array of bytes: by characters the parting alone would cost more than all the rest of the reading.
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.lengthLimit else { throw .malformed("longer than \(Self.lengthLimit) characters") }
        let dot = UInt8(ascii: ".")
        let parts = bytes.split(separator: dot, maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw .malformed("not a JWT (length \(bytes.count))") }
        guard !parts[0].isEmpty, let headerBytes = Self.decoded(parts[0]) else {
            throw .malformed("the header is not base64url")
        }
        guard let payload = Self.decoded(parts[1]) else { throw .malformed("the payload is not base64url") }
        guard let signature = Self.decoded(parts[2]) else { throw .malformed("the signature is not base64url") }
        header = try Header(parsing: headerBytes)
        self.payload = payload
        self.signature = signature
        signingInput = Array(bytes[..<(parts[2].startIndex - 1)])
    }

    private static func decoded(_ part: ArraySlice<UInt8>) -> [UInt8]? {
        Base64URL.decode(String(decoding: part, as: UTF8.self))
    }

    /// Checks the signature by the key of `set` that the header names, or by every key that fits where it names none.
    ///
    /// - Throws: ``TokenRejection/unknownKey``, ``TokenRejection/algorithm`` or ``TokenRejection/badSignature``.
    public func verify(with set: JSONWebKeySet) throws(TokenRejection) {
        if let rejection = verdict(with: set).rejection { throw rejection }
    }

    /// What the signature is worth by the keys of `set`, and whether newer keys could change that.
    func verdict(with set: JSONWebKeySet) -> (rejection: TokenRejection?, newerKeysMayHelp: Bool) {
        do throws(TokenRejection) {
            let (keys, algorithm, isNamed) = try set.candidates(for: header)
            let isGood = keys.contains { key in
                key.publicKey.isValid(signature: signature, of: signingInput, algorithm: algorithm)
            }
            return isGood ? (nil, false) : (.badSignature, !isNamed)
        } catch {
            return (error, mayBeSigned && error == .unknownKey)
        }
    }

    /// Whether the header names an algorithm that we take and no impossible key: only then is a fetch worth its cost.
    private var mayBeSigned: Bool {
        guard header.keyID != .notText, let algorithm = header.algorithm else { return false }
        return SignatureAlgorithm(rawValue: algorithm) != nil
    }
}

extension JSONWebSignature.Header {
    init(parsing bytes: [UInt8]) throws(TokenRejection) {
        let document: JSONDocument
        do { document = try JSONDocument(parsing: bytes) } catch { throw .malformed("the header is not JSON") }
        let root = document.root
        guard root.kind == .object else { throw .malformed("the header is not an object") }
        guard root.repeatedMember == nil else { throw .malformed("a header member occurs twice") }
        // RFC 7515 §4.1.11: an extension that must be understood, and we understand none.
        guard root.member("crit") == nil else { throw .malformed("the header asks for an extension (crit)") }
        if let encoding = root.member("b64"), encoding.bool != true {
            throw .malformed("the payload is not encoded (b64)")
        }
        if let algorithm = root.member("alg"), algorithm.string == nil { throw .algorithm }
        if let type = root.member("typ"), type.string == nil { throw .malformed("typ is not a text") }
        algorithm = root.string("alg")
        type = root.string("typ")
        keyID =
            if let member = root.member("kid") { member.string.map { .text($0) } ?? .notText } else { .absent }
    }
}
