import Concurrency
import JSON

/// The last whole list of endpoints of each user and skill, for when the provider's server is too slow.
///
/// Bounded by bytes: when the younger half is full, it becomes the older one, and the older one is forgotten.
final class KeptDiscoveries: Sendable {
    struct Key: Hashable {
        let skill: String
        let subject: String
    }

    private struct Halves {
        var younger: [Key: [UInt8]] = [:]
        var older: [Key: [UInt8]] = [:]
        var youngerBytes = 0
    }

    private let halfBytes: Int
    private let halves = Locked(Halves())

    /// Room for lists of `limitBytes` in all.
    init(limitBytes: Int = 32 << 20) { halfBytes = limitBytes / 2 }

    /// Keeps a list as the JSON array that it is in the answer.
    func keep(_ bytes: [UInt8], for key: Key) {
        halves.withLock { halves in
            halves.older[key] = nil
            if let former = halves.younger.removeValue(forKey: key) { halves.youngerBytes -= former.count }
            guard bytes.count <= halfBytes else { return }
            if halves.youngerBytes + bytes.count > halfBytes {
                halves.older = halves.younger
                halves.younger = [:]
                halves.youngerBytes = 0
            }
            halves.younger[key] = bytes
            halves.youngerBytes += bytes.count
        }
    }

    func endpoints(for key: Key) -> [JSONValue]? {
        guard let bytes = halves.withLock({ $0.younger[key] ?? $0.older[key] }) else { return nil }
        return (try? JSONValue(parsing: bytes))?.array
    }
}
