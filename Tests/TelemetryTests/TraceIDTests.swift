import Telemetry
import Testing

@Suite("Trace ids")
struct TraceIDTests {
    @Test("an id is 32 hexadecimal digits, can be read back, and none comes twice")
    func random() {
        var seen: Set<TraceID> = []
        for _ in 0..<2000 {
            let id = TraceID.random()
            #expect(id.text.utf8.count == 32)
            #expect(TraceID(id.text) == id)
            #expect(seen.insert(id).inserted)
        }
    }

    @Test(
        "what is no id is not read",
        arguments: [
            "", "0", String(repeating: "g", count: 32), String(repeating: "A", count: 32),
            String(repeating: "0", count: 31),
            String(repeating: "0", count: 33), "+" + String(repeating: "0", count: 31),
            String(repeating: "٣", count: 16),
        ])
    func malformed(text: String) { #expect(TraceID(text) == nil) }
}
