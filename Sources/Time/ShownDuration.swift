extension Duration {
    /// The duration in whole microseconds, as far as they can be counted.
    public var microseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, isOverflowing) = seconds.multipliedReportingOverflow(by: 1_000_000)
        return isOverflowing ? (seconds < 0 ? .min : .max) : product + attoseconds / 1_000_000_000_000
    }

    /// The milliseconds as a number of JSON, to the microsecond: `0.214`, `15`.
    public var jsonMilliseconds: String {
        let (whole, rest) = max(0, microseconds).quotientAndRemainder(dividingBy: 1000)
        guard rest > 0 else { return "\(whole)" }
        var digits = String("\(1000 + rest)".dropFirst())
        while digits.hasSuffix("0") { digits.removeLast() }
        return "\(whole).\(digits)"
    }

    /// The duration for a reader, in milliseconds with three digits at most after the first that counts: `0.21 ms`,
    /// `3.4 ms`, `1204 ms`.
    public var shown: String {
        let count = max(0, microseconds)
        switch count {
        case 0..<1000:
            let hundredths = (count + 5) / 10
            return "\(hundredths / 100).\(String("\(100 + hundredths % 100)".dropFirst())) ms"
        case 1000..<10_000:
            let tenths = (count + 50) / 100
            return "\(tenths / 10).\(tenths % 10) ms"
        default: return "\((count + 500) / 1000) ms"
        }
    }
}
