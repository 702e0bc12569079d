public import JSON

/// One line of a file of signatures to judge: `{"id","jwk":KEY or {"keys":[…]},"jws"}`.
///
/// The signature alone is judged: no claim, no `typ`.
public struct SignatureLine: Sendable {
    /// How long a line may be.
    public static let lengthLimit = 1 << 20

    /// `id` as it was given; null where it could not be read.
    public let id: JSONValue
    /// Why the signature is refused, or why the line says nothing; nil where the signature is good.
    public let reason: String?

    /// Judges `line`; whatever is in it, there is a verdict.
    public init(_ line: [UInt8]) {
        guard line.count <= Self.lengthLimit, let root = try? JSONDocument(parsing: line).root, root.kind == .object,
            root.repeatedMember == nil
        else {
            self.init(id: .null, reason: Self.unreadable)
            return
        }
        let id = root.member("id")?.value ?? .null
        guard let key = root.member("jwk"), let text = root.string("jws") else {
            self.init(id: id, reason: Self.unreadable)
            return
        }
        do {
            // The key was given by hand, so a private half is no sign that it leaked.
            let set = try JSONWebKeySet(key, privateMembers: .ignored)
            try JSONWebSignature(compact: text).verify(with: set)
            self.init(id: id, reason: nil)
        } catch {
            self.init(id: id, reason: (error as? TokenRejection)?.reasonCode ?? "line.key")
        }
    }

    private init(id: JSONValue, reason: String?) {
        self.id = id
        self.reason = reason
    }

    private static let unreadable = "line.malformed"

    /// Whether the line could be read, whatever the verdict.
    public var isReadable: Bool { reason.map { !$0.hasPrefix("line.") } ?? true }

    /// `{"id","accepted","reason"}`.
    public var json: JSONValue {
        ["id": id, "accepted": .bool(reason == nil), "reason": reason.map { .string($0) } ?? .null]
    }
}
