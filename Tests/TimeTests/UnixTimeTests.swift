import Testing
import Time

@Suite("Moments of the wall clock") struct UnixTimeTests {
    @Test(
        "ISO 8601 text reads as the moment it names",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2025-01-15T10:00:00Z", 1_736_935_200_000),
            ("2025-01-15T10:00:00.5Z", 1_736_935_200_500), ("2025-01-15T10:00:00.123456789Z", 1_736_935_200_123),
            ("2025-01-15T12:30:00+02:30", 1_736_935_200_000), ("2025-01-15t05:00:00-05:00", 1_736_935_200_000),
            ("2024-02-29T23:59:59Z", 1_709_251_199_000), ("1969-12-31T23:59:59.999Z", -1),
            ("2016-12-31T23:59:60Z", 1_483_228_800_000), ("0001-01-01T00:00:00Z", -62_135_596_800_000),
            ("9999-12-31T23:59:59Z", 253_402_300_799_000),
        ] as [(String, Int64)])
    func reads(text: String, milliseconds: Int64) {
        #expect(UnixTime(iso8601: text) == UnixTime(milliseconds: milliseconds))
    }

    @Test(
        "anything else is not a moment",
        arguments: [
            "", "2025-01-15", "2025-01-15T10:00:00", "2025-01-15 10:00:00Z", "2025-13-15T10:00:00Z",
            "2025-00-15T10:00:00Z", "2025-02-29T10:00:00Z", "2100-02-29T10:00:00Z", "2025-04-31T10:00:00Z",
            "2025-01-00T10:00:00Z", "2025-01-15T24:00:00Z", "2025-01-15T10:60:00Z", "2025-01-15T10:00:61Z",
            "2025-01-15T10:00:00.Z", "2025-01-15T10:00:00ZZ", "2025-01-15T10:00:00+25:00",
            "2025-01-15T10:00:00+0200", "+025-01-15T10:00:00Z", "2025-1-15T10:00:00Z", "２025-01-15T10:00:00Z",
        ])
    func refuses(text: String) {
        #expect(UnixTime(iso8601: text) == nil)
    }

    @Test(
        "a moment written and read again is the same",
        arguments: Array(stride(from: -6e13, to: 2.5e14, by: 7.777777e12)))
    func roundTrip(milliseconds: Double) {
        let moment = UnixTime(milliseconds: Int64(milliseconds))
        #expect(UnixTime(iso8601: moment.iso8601(fraction: true)) == moment)
        #expect(UnixTime(iso8601: moment.iso8601())?.seconds == moment.seconds)
    }

    @Test("HTTP dates are written as RFC 9110 §5.6.7 shows them")
    func httpDate() {
        #expect(UnixTime(seconds: 784_111_777).httpDate == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(UnixTime(seconds: 951_782_400).httpDate == "Tue, 29 Feb 2000 00:00:00 GMT")
        #expect(UnixTime(seconds: -86_400).httpDate == "Wed, 31 Dec 1969 00:00:00 GMT")
    }

    @Test("arithmetic saturates where it would overflow")
    func saturates() {
        let end = UnixTime(milliseconds: .max)
        #expect(end.adding(seconds: 1) == end)
        #expect(UnixTime(seconds: .max) == end)
        #expect(UnixTime(milliseconds: .min).milliseconds(since: end) == .min)
        #expect(UnixTime(milliseconds: -1).seconds == -1)
    }
}

@Suite("Deadlines") struct DeadlineTests {
    let now = ContinuousClock.now

    @Test("what is left never goes below zero")
    func remaining() {
        let deadline = Deadline.after(.seconds(7), from: now)
        #expect(deadline.remaining(at: now.advanced(by: .seconds(3))) == .seconds(4))
        #expect(deadline.remaining(at: now.advanced(by: .seconds(8))) == .zero)
    }

    @Test("a limit shortens a deadline and never lengthens it")
    func limited() {
        let deadline = Deadline.after(.seconds(7), from: now)
        #expect(deadline.limited(to: .seconds(2), from: now) == .after(.seconds(2), from: now))
        #expect(deadline.limited(to: .seconds(9), from: now) == deadline)
    }
}
