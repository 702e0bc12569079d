import Telemetry
import Testing
import Time

@Suite("Traces")
struct TraceTests {
    let start = ContinuousClock.now
    let noon = UnixTime(milliseconds: 1_796_040_000_123)

    func sample() -> TraceRecord {
        let trace = Trace(.custom, startedAt: noon, start: start)
        trace.note("skill", "ride hailer")
        trace.belongs(to: "alice")
        trace.step("verification", .ok, from: start, to: start + .milliseconds(2))
        trace.step(
            "token", .refused, reason: "token.expired", from: start + .milliseconds(2), to: start + .milliseconds(14))
        return trace.record(.refused, reason: "token.expired", end: start + .milliseconds(15))
    }

    @Test("a record holds steps with their times, facts and the outcome")
    func record() {
        let record = sample()
        #expect(TraceID(record.id) != nil)
        #expect(record.steps.map(\.name) == ["verification", "token"])
        #expect(record.steps.map(\.start) == [.zero, .milliseconds(2)])
        #expect(record.steps.map(\.duration) == [.milliseconds(2), .milliseconds(12)])
        #expect(record.duration == .milliseconds(15))
        #expect(record.notes == [TraceRecord.Note(name: "skill", value: "ride hailer")])
        #expect(record.subject == "alice")
    }

    @Test("a trace keeps its id, and shows it before it has ended")
    func id() {
        let trace = Trace(.link, startedAt: noon, start: start)
        let id = trace.id
        #expect(trace.id == id)
        #expect(trace.record(.ok, end: start).id == id.text)
        #expect(Trace(.link, startedAt: noon, start: start).id != id)
    }

    @Test("number and length of what is noted is bounded")
    func bounds() {
        let trace = Trace(.other, startedAt: noon, start: start)
        let long = String(repeating: "x", count: 1000)
        for _ in 0..<1000 {
            trace.step("step", .failed, reason: long, from: start, to: start)
            trace.note("note", long)
        }
        let record = trace.record(.failed, reason: long, end: start)
        #expect(record.steps.count == Trace.stepLimit)
        #expect(record.droppedSteps == 1000 - Trace.stepLimit)
        #expect(record.notes.count == Trace.noteLimit)
        #expect(record.json.utf8.count < 20_000)
        #expect(record.text.contains("and 936 more steps"))
    }

    @Test("as text it is one line of summary and one a step")
    func text() {
        var record = sample()
        record.id = String(repeating: "0", count: 32)
        #expect(
            record.text == """
                trace 00000000000000000000000000000000  custom  refused  token.expired  \(noon.iso8601(fraction: true))  15 ms
                  subject: alice
                  skill: "ride hailer"
                   0.00 ms   +2.0 ms  verification  ok
                    2.0 ms    +12 ms  token         refused  token.expired

                """)
    }

    @Test("as JSON it is one object on one line")
    func json() {
        var record = sample()
        record.id = String(repeating: "0", count: 32)
        record.notes[0].value = "a\"\n\u{202E}"
        #expect(
            record.json == #"{"id":"00000000000000000000000000000000","kind":"custom","startedAt":""#
                + noon.iso8601(fraction: true)
                + #"","durationMilliseconds":15,"outcome":"refused","reason":"token.expired","subject":"alice","#
                + #""steps":[{"name":"verification","outcome":"ok","startMilliseconds":0,"durationMilliseconds":2},"#
                + #"{"name":"token","outcome":"refused","reason":"token.expired","startMilliseconds":2,"#
                + #""durationMilliseconds":12}],"notes":[{"name":"skill","value":"a\"\n\u202e"}]}"#)
    }

    @Test("what a terminal would obey is escaped in text")
    func terminal() {
        let trace = Trace(.custom, startedAt: noon, start: start)
        trace.note("skill", "\u{1B}[31m\nforged")
        trace.belongs(to: "\u{9B}2J")
        let text = trace.record(.ok, reason: "a\rb", end: start).text
        #expect(text.split(separator: "\n").count == 3)
        #expect(!text.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" || (0x7F...0x9F).contains($0.value) })
    }
}
