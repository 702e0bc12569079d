import Concurrency
import Crypto
import Time

/// The SHA-256 of a token: the token itself is no key of any map.
struct TokenDigest: Hashable, Sendable {
    private let words: SIMD4<UInt64>

    init(of token: [UInt8]) {
        var words = SIMD4<UInt64>()
        for (index, byte) in SHA256.digest(token).enumerated() {
            words[index >> 3] = words[index >> 3] << 8 | UInt64(byte)
        }
        self.words = words
    }

    // The first word of a digest is as good a hash as any made from all of it, and costs nothing.
    func hash(into hasher: inout Hasher) { hasher.combine(words[0]) }
}

/// What is known of tokens seen lately, bounded.
///
/// Only facts are kept, never a decision: who may use a token for what is judged each time.
final class KeptTokens: Sendable {
    enum Kept: Sendable {
        /// A good token, believed until then.
        case good(TokenFacts, until: UnixTime)
        /// A token that the provider called inactive, believed until then; with its end, where that is known.
        case inactive(until: UnixTime, expiresAt: UnixTime?)
    }

    private struct Entry: Sendable {
        let kept: Kept
        let sequence: UInt64
    }

    private struct State: Sendable {
        var entries: BoundedCache<TokenDigest, Entry>
        var sequence: UInt64 = 0
        /// Entries older than this count as gone.
        var forgottenBefore: UInt64 = 0
        /// The same, by subject.
        var forgottenSubjects: [String: UInt64] = [:]
    }

    private static let forgottenSubjectLimit = 10_000

    private let state: Locked<State>

    init(capacity: Int) {
        state = Locked(State(entries: BoundedCache(capacity: capacity)))
    }

    func kept(_ digest: TokenDigest) -> Kept? {
        state.withLock { state in
            guard let entry = state.entries.value(for: digest) else { return nil }
            let isGone =
                entry.sequence < state.forgottenBefore
                || {
                    guard !state.forgottenSubjects.isEmpty, case .good(let facts, _) = entry.kept else { return false }
                    return entry.sequence < state.forgottenSubjects[facts.subject] ?? 0
                }()
            guard isGone else { return entry.kept }
            state.entries.remove(digest)
            return nil
        }
    }

    /// A mark to take before a token is judged: if anything is forgotten meanwhile, ``keep(_:for:since:)`` keeps nothing.
    var mark: UInt64 { state.withLock { $0.sequence } }

    func keep(_ kept: Kept, for digest: TokenDigest, since mark: UInt64) {
        state.withLock { state in
            guard state.sequence == mark else { return }
            state.entries.insert(Entry(kept: kept, sequence: mark), for: digest)
        }
    }

    func forget(_ digest: TokenDigest) {
        state.withLock { state in
            state.sequence += 1
            state.entries.remove(digest)
        }
    }

    func forget(subject: String) {
        state.withLock { state in
            state.sequence += 1
            if state.forgottenSubjects.count >= Self.forgottenSubjectLimit {
                // Rather every token is judged again than one that should have been.
                state.forgottenSubjects.removeAll()
                state.forgottenBefore = state.sequence
            }
            state.forgottenSubjects[subject] = state.sequence
        }
    }
}
