/// A moment of the wall clock, in milliseconds since 1970-01-01T00:00:00Z.
public struct UnixTime: Hashable, Comparable, Sendable {
    /// Milliseconds since the epoch.
    public var milliseconds: Int64

    /// A moment given in milliseconds since the epoch.
    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// A moment given in seconds since the epoch.
    public init(seconds: Int64) {
        let (milliseconds, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        self.milliseconds = overflow ? (seconds < 0 ? .min : .max) : milliseconds
    }

    /// Whole seconds since the epoch, rounded down.
    public var seconds: Int64 { milliseconds >= 0 ? milliseconds / 1000 : (milliseconds - 999) / 1000 }

    /// Whether `left` comes before `right`.
    public static func < (left: UnixTime, right: UnixTime) -> Bool { left.milliseconds < right.milliseconds }

    /// The moment that many seconds later.
    public func adding(seconds: Int64) -> UnixTime { adding(milliseconds: UnixTime(seconds: seconds).milliseconds) }

    /// The moment that many milliseconds later.
    public func adding(milliseconds: Int64) -> UnixTime {
        let (sum, overflow) = self.milliseconds.addingReportingOverflow(milliseconds)
        return UnixTime(milliseconds: overflow ? (milliseconds < 0 ? .min : .max) : sum)
    }

    /// How many milliseconds this moment lies after `earlier`; negative where it lies before.
    public func milliseconds(since earlier: UnixTime) -> Int64 {
        let (difference, overflow) = milliseconds.subtractingReportingOverflow(earlier.milliseconds)
        return overflow ? (milliseconds < earlier.milliseconds ? .min : .max) : difference
    }
}

/// Tells the time of day; the program hands in the system's, a test its own.
public typealias WallClock = @Sendable () -> UnixTime

extension UnixTime {
    /// Reads ISO 8601 in the profile of RFC 3339: date, `T`, time with optional fraction, and `Z` or an offset.
    ///
    /// A fraction finer than a millisecond is cut. Returns nil for anything else, impossible dates included; a leap
    /// second counts as the first moment of the next minute.
    public init?(iso8601 text: String) {
        var reader = DigitReader(bytes: Array(text.utf8))
        guard let year = reader.number(digits: 4), reader.take("-"), let month = reader.number(digits: 2),
            reader.take("-"), let day = reader.number(digits: 2), reader.take("T") || reader.take("t"),
            let hour = reader.number(digits: 2), reader.take(":"), let minute = reader.number(digits: 2),
            reader.take(":"), let second = reader.number(digits: 2),
            let fraction = reader.fractionMilliseconds(), let offsetMinutes = reader.offsetMinutes(), reader.isAtEnd,
            (1...12).contains(month), (1...daysIn(month: month, year: year)).contains(day), hour < 24, minute < 60,
            second <= 60
        else { return nil }
        let days = daysSinceEpoch(year: year, month: month, day: day)
        let seconds = ((days * 24 + hour) * 60 + minute - offsetMinutes) * 60 + second
        self.init(milliseconds: Int64(seconds) * 1000 + Int64(fraction))
    }

    /// `YYYY-MM-DDThh:mm:ssZ`, with `.sss` where `fraction` asks for it.
    public func iso8601(fraction: Bool = false) -> String {
        let seconds = Int(self.seconds)
        let rest = ((seconds % 86_400) + 86_400) % 86_400
        let (year, month, day) = civilDate(daysSinceEpoch: (seconds - rest) / 86_400)
        var text = padded(year, 4) + "-" + padded(month, 2) + "-" + padded(day, 2) + "T"
        text += padded(rest / 3600, 2) + ":" + padded(rest / 60 % 60, 2) + ":" + padded(rest % 60, 2)
        if fraction { text += "." + padded(Int(milliseconds - Int64(seconds) * 1000), 3) }
        return text + "Z"
    }

    /// The day's date and time as HTTP writes them (RFC 9110 §5.6.7), for example `Sun, 06 Nov 1994 08:49:37 GMT`.
    public var httpDate: String {
        let seconds = Int(self.seconds)
        let rest = ((seconds % 86_400) + 86_400) % 86_400
        let days = (seconds - rest) / 86_400
        let (year, month, day) = civilDate(daysSinceEpoch: days)
        let weekday = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][((days % 7) + 7) % 7]
        let name = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ][month - 1]
        let time = padded(rest / 3600, 2) + ":" + padded(rest / 60 % 60, 2) + ":" + padded(rest % 60, 2)
        return "\(weekday), \(padded(day, 2)) \(name) \(padded(year, 4)) \(time) GMT"
    }
}

private struct DigitReader {
    let bytes: [UInt8]
    var index = 0

    var isAtEnd: Bool { index == bytes.count }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard index < bytes.count, UInt32(bytes[index]) == character.value else { return false }
        index += 1
        return true
    }

    mutating func number(digits: Int) -> Int? {
        guard index + digits <= bytes.count else { return nil }
        var number = 0
        for byte in bytes[index..<index + digits] {
            guard (48...57).contains(byte) else { return nil }
            number = number * 10 + Int(byte - 48)
        }
        index += digits
        return number
    }

    mutating func fractionMilliseconds() -> Int? {
        guard take(".") else { return 0 }
        let start = index
        var milliseconds = 0
        while index < bytes.count, (48...57).contains(bytes[index]) {
            if index - start < 3 { milliseconds = milliseconds * 10 + Int(bytes[index] - 48) }
            index += 1
        }
        guard index > start else { return nil }
        for _ in min(index - start, 3)..<3 { milliseconds *= 10 }
        return milliseconds
    }

    mutating func offsetMinutes() -> Int? {
        if take("Z") || take("z") { return 0 }
        let sign: Int
        if take("+") { sign = 1 } else if take("-") { sign = -1 } else { return nil }
        guard let hours = number(digits: 2), take(":"), let minutes = number(digits: 2), hours < 24, minutes < 60
        else { return nil }
        return sign * (hours * 60 + minutes)
    }
}

private func padded(_ number: Int, _ digits: Int) -> String {
    let text = String(number)
    return text.utf8.count >= digits ? text : String(repeating: "0", count: digits - text.utf8.count) + text
}

private func daysIn(month: Int, year: Int) -> Int {
    if month == 2 { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28 }
    return [4, 6, 9, 11].contains(month) ? 30 : 31
}

/// Days from 1970-01-01, in the proleptic Gregorian calendar counted from 1 March, so that leap days come last.
private func daysSinceEpoch(year: Int, month: Int, day: Int) -> Int {
    let shifted = month <= 2 ? year - 1 : year
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
}

private func civilDate(daysSinceEpoch days: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
}
