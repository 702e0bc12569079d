import Synchronization

/// A number that only grows.
public final class Counter: Sendable {
    private let count = Atomic<Int>(0)

    init() {}

    /// Adds `number`.
    public func add(_ number: Int = 1) { count.wrappingAdd(number, ordering: .relaxed) }

    /// The number so far.
    public var value: Int { count.load(ordering: .relaxed) }
}

/// A number that rises and falls.
public final class Gauge: Sendable {
    private let number = Atomic<Int>(0)

    init() {}

    /// Adds `number`, which may be negative.
    public func add(_ number: Int) { self.number.wrappingAdd(number, ordering: .relaxed) }

    /// Sets it.
    public func set(_ number: Int) { self.number.store(number, ordering: .relaxed) }

    /// The number now.
    public var value: Int { number.load(ordering: .relaxed) }
}

/// How many observations lie below each of some bounds.
public final class Histogram: Sendable {
    let bounds: [Double]
    private let buckets: [Counter]
    private let sumMillionths = Atomic<Int>(0)

    init(bounds: [Double]) {
        self.bounds = bounds
        buckets = (0...bounds.count).map { _ in Counter() }
    }

    /// Counts one observation.
    public func observe(_ value: Double) {
        guard value.isFinite else { return }
        buckets[bounds.firstIndex { value <= $0 } ?? bounds.count].add()
        let millionths = (value * 1_000_000).rounded()
        sumMillionths.wrappingAdd(Int(max(-1e15, min(1e15, millionths))), ordering: .relaxed)
    }

    /// Counts one duration, in seconds.
    public func observe(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        observe(Double(seconds) + Double(attoseconds) / 1e18)
    }

    /// How many observations lie at or below each bound, the last one without a bound, and their sum.
    var snapshot: (cumulative: [Int], sum: Double) {
        var total = 0
        let cumulative = buckets.map { bucket in
            total += bucket.value
            return total
        }
        return (cumulative, Double(sumMillionths.load(ordering: .relaxed)) / 1_000_000)
    }

    /// How many observations there were.
    public var count: Int { buckets.reduce(0) { $0 + $1.value } }
}
