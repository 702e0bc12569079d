import Telemetry
import Testing
import Time

@Suite("The clock's watch")
struct ClockDriftTests {
    let sink = LogLines()
    let metrics = Metrics()
    let start = ContinuousClock.now

    func watched() -> (ClockDrift, Log) {
        let log = Log(level: .info, format: .text, clock: { UnixTime(seconds: 0) }, sink: sink)
        return (ClockDrift(log: log, metrics: metrics), log)
    }

    func alarms(_ log: Log) -> Int {
        log.flush()
        return sink.lines.count { $0.contains("check the clock") }
    }

    @Test("OPS-4: fifty refusals of a clock that is 160 s slow raise one alarm, with the signed difference")
    func slowClock() {
        let (drift, log) = watched()
        for second in 0..<50 { drift.refused(differenceSeconds: 160, at: start + .seconds(second)) }
        #expect(alarms(log) == 1)
        #expect(sink.lines.first?.contains("clockDifferenceSeconds=160") == true)
        #expect(drift.medianSeconds == 160)
        #expect(metrics.gauge(.clockDifferenceMedianSeconds).value == 160)
        #expect(metrics.counter(.timestampRejections, "ahead").value == 50)
        #expect(metrics.counter(.timestampRejections, "behind").value == 0)
        #expect(metrics.histogram(.timestampRejectionDifferenceSeconds).count == 50)
    }

    @Test("OPS-4: a fast clock shows with the other sign, and the alarm comes again after its pause")
    func fastClock() {
        let (drift, log) = watched()
        for second in [0, 1, 2, 3, 4, 299, 304, 305] {
            drift.refused(differenceSeconds: -400, at: start + .seconds(second))
        }
        #expect(alarms(log) == 2)
        #expect(drift.medianSeconds == -400)
        #expect(metrics.counter(.timestampRejections, "behind").value == 8)
    }

    @Test("OPS-4: single stale requests among good ones raise none")
    func replays() {
        let (drift, log) = watched()
        for round in 0..<20 {
            for _ in 0..<32 { drift.accepted(differenceSeconds: 1) }
            drift.refused(differenceSeconds: -3000, at: start + .seconds(round))
        }
        #expect(alarms(log) == 0)
        #expect(drift.medianSeconds == 1)
    }

    @Test("fewer than five refusals raise none, and absurd differences do no harm")
    func few() {
        let (drift, log) = watched()
        #expect(drift.medianSeconds == nil)
        for difference in [Int.min, .max, .min, .min] { drift.refused(differenceSeconds: difference, at: start) }
        #expect(alarms(log) == 0)
        drift.refused(differenceSeconds: .min, at: start)
        #expect(alarms(log) == 1)
    }
}
