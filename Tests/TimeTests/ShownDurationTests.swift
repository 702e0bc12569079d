import Testing
import Time

@Suite("Durations for readers and in JSON") struct ShownDurationTests {
    @Test(
        "what counts is shown, and JSON is exact to the microsecond",
        arguments: [
            (0, "0.00 ms", "0"), (4, "0.00 ms", "0.004"), (5, "0.01 ms", "0.005"), (214, "0.21 ms", "0.214"),
            (994, "0.99 ms", "0.994"), (999, "1.00 ms", "0.999"), (1000, "1.0 ms", "1"), (3449, "3.4 ms", "3.449"),
            (9949, "9.9 ms", "9.949"), (9950, "10.0 ms", "9.95"), (10_000, "10 ms", "10"), (12_500, "13 ms", "12.5"),
            (1_204_000, "1204 ms", "1204"), (-7, "0.00 ms", "0"),
        ])
    func shown(microseconds: Int, text: String, json: String) {
        let duration = Duration.microseconds(microseconds)
        #expect(duration.shown == text && duration.jsonMilliseconds == json)
        #expect(duration.microseconds == Int64(microseconds))
    }

    @Test("a duration beyond counting is the largest one")
    func endless() {
        #expect(Duration.seconds(Int64.max).microseconds == .max && Duration.seconds(Int64.min).microseconds == .min)
    }
}
