import Concurrency

/// The program's measures: a fixed set of names, each with labels of bounded number and length.
///
/// ``counter(_:_:_:)`` and its like look the labels up; who counts often keeps what it returns, then an increment is
/// one atomic addition.
public final class Metrics: Sendable {
    /// How many different labels a name may have; further ones are counted under `other`.
    public static let labelLimit = 100

    private let counters = Locked(Family<CounterName, Counter>())
    private let gauges = Locked(Family<GaugeName, Gauge>())
    private let histograms = Locked(Family<HistogramName, Histogram>())

    /// Nothing counted.
    public init() {}

    /// The counter of that name and those labels, in the order in which the name lists them.
    public func counter(_ name: CounterName, _ first: String = "", _ second: String = "") -> Counter {
        counters.withLock { counters in counters.cell(name, first, second) { Counter() } }
    }

    /// The gauge of that name and label.
    public func gauge(_ name: GaugeName, _ first: String = "") -> Gauge {
        gauges.withLock { gauges in gauges.cell(name, first, "") { Gauge() } }
    }

    /// The histogram of that name and label.
    public func histogram(_ name: HistogramName, _ first: String = "") -> Histogram {
        histograms.withLock { histograms in
            histograms.cell(name, first, "") { Histogram(bounds: name.bounds) }
        }
    }

    /// Everything, in Prometheus's text format.
    public var prometheusText: String {
        var text = ""
        for name in CounterName.allCases {
            text += "# HELP \(name.rawValue) \(name.help)\n# TYPE \(name.rawValue) counter\n"
            if name.labels.isEmpty { _ = counter(name) }
            for (labels, cell) in counters.withLock({ $0.sorted(name) }) {
                text += "\(name.rawValue)\(braces(name.labels, labels)) \(cell.value)\n"
            }
        }
        for name in GaugeName.allCases {
            text += "# HELP \(name.rawValue) \(name.help)\n# TYPE \(name.rawValue) gauge\n"
            if name.labels.isEmpty { _ = gauge(name) }
            for (labels, cell) in gauges.withLock({ $0.sorted(name) }) {
                text += "\(name.rawValue)\(braces(name.labels, labels)) \(cell.value)\n"
            }
        }
        for name in HistogramName.allCases {
            text += "# HELP \(name.rawValue) \(name.help)\n# TYPE \(name.rawValue) histogram\n"
            if name.labels.isEmpty { _ = histogram(name) }
            for (labels, cell) in histograms.withLock({ $0.sorted(name) }) {
                let (cumulative, sum) = cell.snapshot
                for (index, count) in cumulative.enumerated() {
                    let bound = index < cell.bounds.count ? shortest(cell.bounds[index]) : "+Inf"
                    text += "\(name.rawValue)_bucket\(braces(name.labels, labels, bound: bound)) \(count)\n"
                }
                text += "\(name.rawValue)_sum\(braces(name.labels, labels)) \(shortest(sum))\n"
                text += "\(name.rawValue)_count\(braces(name.labels, labels)) \(cumulative.last ?? 0)\n"
            }
        }
        return text
    }
}

/// The cells of one kind of measure.
private struct Family<Name: Hashable & Sendable, Cell: Sendable>: Sendable {
    struct Key: Hashable, Sendable {
        let name: Name
        let first: String
        let second: String
    }

    private var cells: [Key: Cell] = [:]
    private var counts: [Name: Int] = [:]

    mutating func cell(_ name: Name, _ first: String, _ second: String, make: () -> Cell) -> Cell {
        var key = Key(name: name, first: first, second: second)
        if let cell = cells[key] { return cell }
        if counts[name, default: 0] >= Metrics.labelLimit {
            key = Key(name: name, first: first.isEmpty ? "" : "other", second: second.isEmpty ? "" : "other")
        } else {
            key = Key(name: name, first: bounded(first), second: bounded(second))
        }
        if let cell = cells[key] { return cell }
        let cell = make()
        cells[key] = cell
        counts[name, default: 0] += 1
        return cell
    }

    func sorted(_ name: Name) -> [(labels: [String], cell: Cell)] {
        cells.filter { $0.key.name == name }
            .sorted { ($0.key.first, $0.key.second) < ($1.key.first, $1.key.second) }
            .map { ([$0.key.first, $0.key.second], $0.value) }
    }
}

private func braces(_ names: [StaticString], _ values: [String], bound: String? = nil) -> String {
    var parts = zip(names, values).map { name, value in "\(name)=\"\(escaped(value))\"" }
    if let bound { parts.append("le=\"\(bound)\"") }
    return parts.isEmpty ? "" : "{" + parts.joined(separator: ",") + "}"
}

/// A label's value: backslash, quote and line feed are escaped, other control characters replaced.
private func escaped(_ value: String) -> String {
    var text = ""
    for scalar in value.unicodeScalars {
        switch scalar {
        case "\\": text += "\\\\"
        case "\"": text += "\\\""
        case "\n": text += "\\n"
        case _ where !isHarmless(scalar): text += "?"
        default: text.unicodeScalars.append(scalar)
        }
    }
    return text
}

/// A number without the `.0` of whole ones.
private func shortest(_ number: Double) -> String {
    let text = String(number)
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
}
