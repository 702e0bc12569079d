import Concurrency

/// A random name of 128 bits, written as 32 hexadecimal digits.
public struct TraceID: Sendable, Hashable, CustomStringConvertible {
    private let high: UInt64
    private let low: UInt64

    /// A new one.
    ///
    /// The system is asked for random bytes once for some hundred ids, so one costs little more than a lock.
    public static func random() -> TraceID {
        pool.withLock { pool in
            if pool.count < 2 {
                var generator = SystemRandomNumberGenerator()
                for _ in 0..<512 { pool.append(generator.next()) }
            }
            return TraceID(high: pool.removeLast(), low: pool.removeLast())
        }
    }

    private static let pool = Locked<[UInt64]>([])

    private init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The id that `text` writes; nil for anything but 32 hexadecimal digits in lower case.
    public init?(_ text: String) {
        guard text.utf8.count == 32, text.utf8.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) }),
            let high = UInt64(text.prefix(16), radix: 16), let low = UInt64(text.suffix(16), radix: 16)
        else { return nil }
        self.init(high: high, low: low)
    }

    /// 32 hexadecimal digits in lower case.
    public var text: String {
        let digits: StaticString = "0123456789abcdef"
        return unsafe String(unsafeUninitializedCapacity: 32) { buffer in
            for index in 0..<32 {
                let half = index < 16 ? high : low
                let digit = Int(half >> UInt64(60 - index % 16 * 4) & 15)
                unsafe buffer[index] = digits.utf8Start[digit]
            }
            return 32
        }
    }

    /// The same as ``text``.
    public var description: String { text }
}
