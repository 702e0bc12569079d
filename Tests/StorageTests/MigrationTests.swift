import Alexa
import CSQLite
import Storage
import Telemetry
import TestSupport
import Testing
import Time

@Suite("Migrations of a SQLite file", .timeLimit(.minutes(5))) struct MigrationTests {
    /// Undoes the step that brought the outbox.
    static let beforeOutbox = """
        DROP TABLE outbox;
        DROP TRIGGER known_states_without_grant;
        DROP TABLE known_states;
        DROP TABLE endpoint_ids;
        DROP TABLE users; DROP TABLE user_file_marks;
        DELETE FROM counters WHERE name = 'changes';
        DROP TABLE link_attempts; DROP TABLE links; DROP TABLE link_joins;
        DROP TABLE provider_codes; DROP TABLE refresh_tokens; DROP TABLE provider_grants; DROP TABLE provider_keys;
        DROP INDEX traces_by_kind; DROP INDEX traces_by_sort_and_age; DROP TABLE ended_sessions;
        ALTER TABLE traces DROP COLUMN kind;
        ALTER TABLE traces DROP COLUMN outcome;
        ALTER TABLE grants DROP COLUMN gateway_region;
        ALTER TABLE grants DROP COLUMN lane_lease;
        ALTER TABLE grants DROP COLUMN lane_owner;
        ALTER TABLE grants DROP COLUMN lane_until;
        ALTER TABLE grants DROP COLUMN lane_paused_until;
        PRAGMA user_version = 3;
        """

    @Test("a store of the time before events keeps its grants, and they get lanes")
    func outbox() async throws {
        try await withFolder { folder in
            let path = folder + "/store.sqlite"
            try await OutboxFileTests.open(path).open(key(), key(skill: "other"))
            #expect(run(Self.beforeOutbox, path) == SQLITE_OK)
            #expect(run("SELECT lane_until FROM grants", path) != SQLITE_OK)
            let store = try OutboxFileTests.open(path)
            let grant = try #require(try await store.grant(key(), by: soon))
            #expect(grant == Grant(key: key(), credentials: credentials("home"), sequence: 1, version: 1))
            #expect(try await store.post([event(.added)], by: soon) == PostOutcome(rows: 2))
            #expect(try await store.drain().count == 2)
        }
    }

    @Test("traces of the time before they were told apart by kind and outcome are found by both")
    func traces() async throws {
        try await withFolder { folder in
            let path = folder + "/store.sqlite"
            let old = TraceRecord(
                id: "1", kind: .link, startedAt: UnixTime(seconds: 9), duration: .milliseconds(1), outcome: .refused)
            try await OutboxFileTests.open(path).save(old)
            let undo = """
                DROP INDEX traces_by_kind; DROP INDEX traces_by_sort_and_age; DROP TABLE ended_sessions;
                ALTER TABLE traces DROP COLUMN kind;
                ALTER TABLE traces DROP COLUMN outcome;
                UPDATE traces SET record = CAST(replace(CAST(record AS TEXT), '"microseconds":1000', '"milliseconds":1') AS BLOB);
                INSERT INTO traces VALUES ('2', 8000, NULL, CAST('no JSON' AS BLOB)); PRAGMA user_version = 7;
                """
            #expect(run(undo, path) == SQLITE_OK)
            let store = try OutboxFileTests.open(path)
            let query = TraceQuery(kind: .link, outcomes: [.refused])
            #expect(try await store.traces(matching: query, limit: 10) == [old])
            #expect(try await store.traces(matching: TraceQuery(kind: .custom), limit: 10).isEmpty)
        }
    }

    @Test("where a posting fails half-way in the file, nothing of it stays")
    func halfWay() async throws {
        try await withFolder { folder in
            let path = folder + "/store.sqlite"
            let store = try OutboxFileTests.open(path)
            try await store.open(key())
            let trap = """
                CREATE TRIGGER trap BEFORE INSERT ON outbox WHEN new.device_id = 'trap' BEGIN
                    SELECT RAISE(ABORT, 'trap');
                END
                """
            #expect(run(trap, path) == SQLITE_OK)
            await #expect(throws: OutboxError.self) {
                try await store.post([changed([brightness(1)]), event(.added, "trap")], by: soon)
            }
            #expect(try await store.waitingRows(by: soon) == 0)
            #expect(try await store.knownState(subject: "u1", deviceID: "d1", by: soon) == nil)
            #expect(try await store.post([changed([brightness(1)])], by: soon).rows == 1)
        }
    }
}
