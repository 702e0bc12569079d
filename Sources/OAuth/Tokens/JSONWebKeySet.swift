import Crypto
public import JSON

/// The keys of an issuer (RFC 7517 §5), with what keeps some of them from being used.
///
/// Keys of kinds that we do not know are passed over, as the RFC asks. A key with private members is not used where
/// the set was published: everybody can sign with it. Two different keys of one kind under one id make that id
/// ambiguous, and no token is accepted by it.
public struct JSONWebKeySet: Sendable {
    /// What private members of a key mean.
    public enum PrivateMembers: Sendable {
        /// The set was published, so such a key is public knowledge and worth nothing.
        case refused
        /// The caller gave the set by hand: the public half is used, the rest is not read.
        case ignored
    }

    /// How many keys a set may have.
    public static let keyLimit = 100

    private enum Entry: Sendable {
        case usable(JSONWebKey, thumbprint: String)
        case otherKind(id: String?)
        case refused(id: String?)

        var id: String? {
            switch self {
            case .usable(let key, _): key.id
            case .otherKind(let id), .refused(let id): id
            }
        }
    }

    private var entries: [Entry] = []

    /// What is wrong with keys that are not used, each with its place; no key material.
    public private(set) var faults: [String] = []

    /// A set of these keys.
    public init(_ keys: [JSONWebKey]) {
        for key in keys { insert(key) }
    }

    /// Reads `{"keys":[…]}`, or a key alone.
    ///
    /// - Throws: ``JSONWebKeyError`` where it is neither.
    public init(parsing bytes: [UInt8], privateMembers: PrivateMembers = .refused) throws(JSONWebKeyError) {
        let document: JSONDocument
        do { document = try JSONDocument(parsing: bytes) } catch { throw JSONWebKeyError(reason: error.reason) }
        try self.init(document.root, privateMembers: privateMembers)
    }

    /// Reads `{"keys":[…]}`, or a key alone.
    ///
    /// - Throws: ``JSONWebKeyError`` where it is neither.
    public init(_ element: JSONElement, privateMembers: PrivateMembers = .refused) throws(JSONWebKeyError) {
        guard element.kind == .object else { throw JSONWebKeyError(reason: "not an object") }
        guard let keys = element.member("keys") else {
            guard element.member("kty") != nil else { throw JSONWebKeyError(reason: "neither keys nor kty") }
            read(element, at: "the key", privateMembers)
            return
        }
        guard let elements = keys.elements else { throw JSONWebKeyError(reason: "keys is not an array") }
        guard element.repeatedMember == nil else { throw JSONWebKeyError(reason: "a member occurs twice") }
        guard elements.count <= Self.keyLimit else {
            throw JSONWebKeyError(reason: "more than \(Self.keyLimit) keys")
        }
        for (index, key) in elements.enumerated() { read(key, at: "keys[\(index)]", privateMembers) }
    }

    /// The keys that can verify something.
    public var keys: [JSONWebKey] {
        entries.compactMap { entry in if case .usable(let key, _) = entry { key } else { nil } }
    }

    /// The document that publishes the set: public members only.
    public var json: JSONValue { ["keys": .array(keys.map(\.json))] }

    private mutating func read(_ element: JSONElement, at place: String, _ privateMembers: PrivateMembers) {
        let id = JSONWebKey.id(of: element)
        do throws(KeyFault) {
            guard element.kind == .object else { throw .refused("not an object") }
            insert(try JSONWebKey(element, id: id, privateMembers: privateMembers))
        } catch {
            faults.append("\(place): \(error.reason)")
            switch error {
            case .otherKind: entries.append(.otherKind(id: id))
            case .refused: entries.append(.refused(id: id))
            }
        }
    }

    private mutating func insert(_ key: JSONWebKey) {
        let thumbprint = JSONWebKey.thumbprint(of: key.publicKey)
        // The same key twice, for the same algorithms, is one key.
        let isKnown = entries.contains { entry in
            if case .usable(let other, thumbprint) = entry {
                other.id == key.id && other.algorithms == key.algorithms
            } else {
                false
            }
        }
        if !isKnown { entries.append(.usable(key, thumbprint: thumbprint)) }
    }
}

/// Why a text is no key set.
public struct JSONWebKeyError: Error, Hashable, Sendable {
    /// What is wrong; never quotes the text.
    public let reason: String
}

extension JSONWebKeySet {
    /// How many keys are tried for a token that names none.
    static let triedKeyLimit = 8

    /// The keys that may have signed something under `header`, and whether the token named its key.
    ///
    /// The key fixes the algorithm, the header only has to agree (RFC 8725 §3.1).
    ///
    /// - Throws: ``TokenRejection/unknownKey`` or ``TokenRejection/algorithm``.
    func candidates(
        for header: JSONWebSignature.Header
    ) throws(TokenRejection) -> (keys: [JSONWebKey], algorithm: SignatureAlgorithm, isNamed: Bool) {
        var named = entries
        var isNamed = false
        switch header.keyID {
        case .absent: break
        case .notText: throw .unknownKey
        case .text(let id):
            named = entries.filter { entry in entry.id.map { isSame($0, id) } ?? false }
            isNamed = !named.isEmpty
            // A key without an id may be the one that is meant.
            if !isNamed { named = entries.filter { $0.id == nil } }
            if named.isEmpty { throw .unknownKey }
        }
        guard let algorithm = header.algorithm.flatMap(SignatureAlgorithm.init(rawValue:)) else { throw .algorithm }
        var fitting: [JSONWebKey] = []
        var hasOther = named.isEmpty && !entries.isEmpty
        for entry in named {
            switch entry {
            case .usable(let key, _):
                if key.algorithms.contains(algorithm) { fitting.append(key) } else { hasOther = true }
            case .otherKind: hasOther = true
            case .refused: break
            }
        }
        if fitting.isEmpty { throw hasOther ? .algorithm : .unknownKey }
        if isNamed, fitting.count > 1 { throw .unknownKey }
        return (Array(fitting.prefix(Self.triedKeyLimit)), algorithm, isNamed)
    }
}

/// Whether two texts are the same bytes; `==` of String also takes other spellings of the same characters for equal.
func isSame(_ left: String, _ right: String) -> Bool { left.utf8.elementsEqual(right.utf8) }
