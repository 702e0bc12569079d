import Alexa
import Crypto
import FoundationEssentials
import JSON
import Storage
import TestSupport
import Testing
import Time

@Suite("The outbox in a SQLite file", .timeLimit(.minutes(5))) struct OutboxFileTests {
    static func open(_ path: String) throws -> SQLiteStore {
        try SQLiteStore(url: "sqlite:\(path)", keys: try TestKeys.keys(TestKeys.first), clock: { ManualClock.start })
    }

    @Test("what was posted is there after the process was killed, and in flight until its lease ends")
    func killed() async throws {
        try await withFolder { folder in
            let path = folder + "/store.sqlite"
            await #expect(processExitsWith: .signal(9)) { [path = path as String] in
                let store = try OutboxFileTests.open(path)
                try await store.open(key(), key(subject: "u2"))
                try await store.post([changed([brightness(1)]), event(.doorbellPress)], by: soon)
                _ = try await store.lease("dead", for: .seconds(30))
                try await store.post([changed([brightness(2)], subject: "u2")], by: soon)
                killThisProcess()
            }
            let store = try Self.open(path)
            #expect(try await store.waitingRows(by: soon) == 3)
            let living = try #require(try await store.lease())
            #expect(living.lease.key.subject == "u2")
            #expect(try await store.lease() == nil)
            let keys = try TestKeys.keys(TestKeys.first)
            let later = try SQLiteStore(
                url: "sqlite:\(path)", keys: keys, clock: { ManualClock.start.adding(seconds: 30) })
            let again = try #require(try await later.lease())
            #expect(again.lease.key.subject == "u1")
            #expect(again.rows.map(\.properties) == [[brightness(1)]])
            let known = try await later.knownState(subject: "u1", deviceID: "d1", by: soon)
            #expect(known?.properties == [brightness(1)])
        }
    }

    @Test("no value of a state can be read in the files")
    func rawBytes() async throws {
        try await withFolder { folder in
            let path = folder + "/store.sqlite"
            let store = try Self.open(path)
            try await store.open(key())
            let secret = property("ModeController", "mode", "SECRET-VALUE", instance: "secret-instance")
            try await store.post([changed("visible-device", [secret], state: [power("SECRET-STATE")])], by: soon)
            try await store.post([changed("visible-device", [brightness(7)])], by: soon)
            let reported: Set = [PropertyKey(interface: "ModeController", name: "mode")]
            try await store.noteDevices(
                subject: "u1", [NotedDevice(deviceID: "visible-device", reported: reported)], by: soon)
            let files = try ["", "-wal"].map { try Data(contentsOf: URL(filePath: path + $0)) }
            #expect(files.contains { $0.firstRange(of: Data("visible-device".utf8)) != nil })
            let secrets = ["SECRET-VALUE", "SECRET-STATE", "secret-instance", "PHYSICAL_INTERACTION", "ModeController"]
            for secret in secrets + secrets.map({ Base64.encode(Array($0.utf8)) }) {
                #expect(!files.contains { $0.firstRange(of: Data(secret.utf8)) != nil }, "\(secret)")
            }
            #expect(try await store.drain().map(\.properties) == [[secret, brightness(7)]])
        }
    }

    @Test("where the second event of a posting fails, the first is not written either")
    func allOrNone() async throws {
        try await withFolder { folder in
            let path = folder + "/store.sqlite"
            let keys = try TestKeys.keys(TestKeys.first)
            try await Self.fill(path)
            let original = try Data(contentsOf: URL(filePath: path))
            let record = Data([1] + (Hex.decode(keys.ids[0]) ?? []))
            var failures: Set<OutboxError> = []
            var rest = original[...]
            while let range = rest.firstRange(of: record) {
                rest = original[range.upperBound...]
                var file = original
                file[range.upperBound + 13] ^= 1
                try file.write(to: URL(filePath: path))
                // One of the records proves the key; without it the store does not open.
                guard let store = try? Self.open(path) else { continue }
                do throws(OutboxError) {
                    try await store.post([event(.added, "d1"), changed("d2", [brightness(2)])], by: soon)
                } catch {
                    failures.insert(error)
                    #expect(try await store.waitingRows(by: soon) == 1)
                    #expect(try await store.knownState(subject: "u1", deviceID: "d1", by: soon) == nil)
                }
            }
            let columns = [("outbox", "body"), ("known_states", "state")]
            #expect(
                failures
                    == Set(
                        columns.map { .unavailable(StorageError.damaged(table: $0.0, column: $0.1).description) }))
        }
    }

    private static func fill(_ path: String) async throws {
        let store = try open(path)
        try await store.open(key())
        try await store.post([changed("d2", [brightness(1)])], by: soon)
    }

    @Test("8 posters and 3 workers on one file: each device's rows come in order, none is lost or sent twice")
    func concurrent() async throws {
        try await withFolder { folder in
            let path = folder + "/store.sqlite"
            let stores = try (0..<3).map { _ in try Self.open(path) }
            try await stores[0].open(key())
            try await withThrowingTaskGroup(of: Void.self) { group in
                for poster in 0..<8 {
                    group.addTask {
                        for number in 0..<10 {
                            let body: JSONObject = ["number": .integer(Int64(number))]
                            let event = PostedEvent(subject: "u1", deviceID: "d\(poster)", kind: .added, body: body)
                            try await stores[poster % 3].post([event], by: soon)
                        }
                    }
                }
                try await group.waitForAll()
            }
            let sent = try await withThrowingTaskGroup(of: [OutboxRow].self) { group in
                for store in stores { group.addTask { try await store.drain() } }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            // The worker that finds the lane taken stops; whoever has it goes on until it is empty.
            let left = try await stores[0].drain()
            #expect(sent.count + left.count == 80)
            #expect(Set((sent + left).map(\.messageID)).count == 80)
            for (_, rows) in Dictionary(grouping: sent + left, by: \.deviceID) {
                let ordered = rows.sorted { $0.sequence < $1.sequence }
                #expect(ordered.compactMap { $0.body["number"]?.integer } == Array(0..<10))
            }
        }
    }
}
