import Concurrency
import Crypto
import HTTP
import JSON

/// Answers of the provider's server that may be used again, each for the token that it was given to.
///
/// Large answers have a smaller room of their own, so that lists of devices do not push everything else out and the
/// whole stays bounded.
struct KeptAnswers: Sendable {
    struct Key: Hashable {
        let tokenHash: [UInt8]
        let path: String

        init(_ token: Secret, _ path: String) {
            tokenHash = SHA256.digest(token.exposed)
            self.path = path
        }
    }

    /// An answer that the server can be asked about by its tag.
    struct Tagged {
        let tag: String
        let document: JSONDocument
        fileprivate let bytes: Int
    }

    private struct Answer {
        let subject: String
        let document: JSONDocument
        let bytes: Int
        /// Until when it may be used without asking; nil where it may not.
        let freshUntil: ContinuousClock.Instant?
        let tag: String?
    }

    private let smallBytes: Int
    private let largeBytes: Int
    private var small: BoundedCache<Key, Answer>
    private var large: BoundedCache<Key, Answer>

    init(_ limits: ResourceClient.Limits) {
        smallBytes = limits.keptAnswerBytes
        largeBytes = limits.keptLargeAnswerBytes
        small = BoundedCache(capacity: limits.keptAnswers)
        large = BoundedCache(capacity: limits.keptLargeAnswers)
    }

    /// The answer that may be used without asking.
    mutating func fresh(_ key: Key, at now: ContinuousClock.Instant) -> JSONDocument? {
        guard let answer = answer(key) else { return nil }
        if let until = answer.freshUntil, until > now { return answer.document }
        if answer.tag == nil { remove(key) }
        return nil
    }

    /// The answer that may be used if the server says that it still holds.
    mutating func tagged(_ key: Key) -> Tagged? {
        guard let answer = answer(key), let tag = answer.tag else { return nil }
        return Tagged(tag: tag, document: answer.document, bytes: answer.bytes)
    }

    /// Keeps an answer, where the server allows it and it is not too large.
    mutating func insert(
        _ document: JSONDocument, for key: Key, subject: String, _ response: HTTPResponse,
        at start: ContinuousClock.Instant
    ) {
        insert(document, bytes: response.body.count, tag: nil, for: key, subject, response.fields, at: start)
    }

    /// Keeps an answer that the server has confirmed.
    mutating func confirm(
        _ known: Tagged, for key: Key, subject: String, _ fields: HTTPFields, at start: ContinuousClock.Instant
    ) {
        insert(known.document, bytes: known.bytes, tag: known.tag, for: key, subject, fields, at: start)
    }

    mutating func remove(_ key: Key) {
        small.remove(key)
        large.remove(key)
    }

    mutating func remove(subject: String) {
        small.removeAll { _, answer in answer.subject == subject }
        large.removeAll { _, answer in answer.subject == subject }
    }

    private mutating func answer(_ key: Key) -> Answer? { small.value(for: key) ?? large.value(for: key) }

    private mutating func insert(
        _ document: JSONDocument, bytes: Int, tag: String?, for key: Key, _ subject: String, _ fields: HTTPFields,
        at start: ContinuousClock.Instant
    ) {
        remove(key)
        let seconds = CachePermission.seconds(fields)
        let tag = CachePermission.allowsAsking(fields) ? CachePermission.tag(fields) ?? tag : nil
        guard seconds != nil || tag != nil, bytes <= largeBytes else { return }
        let answer = Answer(
            subject: subject, document: document, bytes: bytes,
            freshUntil: seconds.map { start.advanced(by: .seconds($0)) }, tag: tag)
        if bytes <= smallBytes { small.insert(answer, for: key) } else { large.insert(answer, for: key) }
    }
}
