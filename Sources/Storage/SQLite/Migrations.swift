/// The steps that brought the store to its present form; a step that was ever released is never edited.
enum Migrations {
    /// The schema that the last step makes.
    static var newest: Int64 { Int64(steps.count) }

    static let steps: [String] = [
        grants, signingKeys, traces, outbox, provider, users, links, traceKinds, traceAges, endedSessions,
    ]

    // Alexa user ids are in clear; tokens are sealed; the key's absent parts are '' since NULLs are never equal.
    private static let grants = """
        CREATE TABLE health (id INTEGER PRIMARY KEY CHECK (id = 1), checked_at INTEGER NOT NULL) STRICT;
        INSERT INTO health VALUES (1, 0);
        CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        INSERT INTO counters VALUES ('grants', 0);
        CREATE TABLE sealing_keys (id TEXT PRIMARY KEY, probe BLOB NOT NULL) STRICT, WITHOUT ROWID;
        CREATE TABLE grants (
            id TEXT PRIMARY KEY, subject TEXT NOT NULL, source TEXT NOT NULL, skill TEXT NOT NULL,
            region TEXT NOT NULL, amazon_user_id TEXT NOT NULL, provider_grant_id TEXT NOT NULL,
            access_token BLOB NOT NULL, refresh_token BLOB NOT NULL, expires_at INTEGER NOT NULL,
            sequence INTEGER NOT NULL, suspended INTEGER NOT NULL, version INTEGER NOT NULL,
            lease_owner TEXT, lease_until INTEGER NOT NULL,
            UNIQUE (subject, source, skill, region, amazon_user_id, provider_grant_id)) STRICT;
        CREATE TABLE accept_grants (
            code_hash TEXT PRIMARY KEY, subject TEXT NOT NULL, owner TEXT NOT NULL, lease_until INTEGER NOT NULL,
            claimed_at INTEGER NOT NULL, outcome TEXT) STRICT, WITHOUT ROWID;
        CREATE INDEX accept_grants_by_age ON accept_grants (claimed_at);
        """

    private static let signingKeys = """
        CREATE TABLE signing_keys (
            id TEXT PRIMARY KEY, algorithm TEXT NOT NULL, private_key BLOB NOT NULL, created_at INTEGER NOT NULL,
            signs_from INTEGER NOT NULL, published_until INTEGER) STRICT;
        """

    private static let traces = """
        CREATE TABLE traces (
            id TEXT PRIMARY KEY, started_at INTEGER NOT NULL, subject TEXT, record BLOB NOT NULL) STRICT;
        CREATE INDEX traces_by_age ON traces (started_at);
        CREATE INDEX traces_by_subject ON traces (subject, started_at);
        """

    // A head is the first row of its lane and device, so a lane's heads are found without looking at what waits behind
    // them; the trigger keeps that true however a row goes. Rows and known states go with their grants.
    private static let outbox = """
        ALTER TABLE grants ADD COLUMN gateway_region TEXT;
        ALTER TABLE grants ADD COLUMN lane_lease TEXT;
        ALTER TABLE grants ADD COLUMN lane_owner TEXT;
        ALTER TABLE grants ADD COLUMN lane_until INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE grants ADD COLUMN lane_paused_until INTEGER NOT NULL DEFAULT 0;
        CREATE TABLE outbox (
            sequence INTEGER PRIMARY KEY AUTOINCREMENT, lane TEXT NOT NULL REFERENCES grants (id) ON DELETE CASCADE,
            device_id TEXT NOT NULL, kind TEXT NOT NULL, body BLOB NOT NULL, message_id TEXT NOT NULL,
            created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL, due_at INTEGER NOT NULL,
            attempts INTEGER NOT NULL, head INTEGER NOT NULL, flight TEXT) STRICT;
        CREATE INDEX outbox_by_device ON outbox (lane, device_id, sequence);
        CREATE INDEX outbox_heads ON outbox (lane, sequence) WHERE head = 1;
        CREATE INDEX outbox_due ON outbox (due_at) WHERE head = 1;
        CREATE INDEX outbox_by_expiry ON outbox (expires_at);
        CREATE TRIGGER outbox_next_head AFTER DELETE ON outbox WHEN old.head = 1 BEGIN
            UPDATE outbox SET head = 1 WHERE sequence =
                (SELECT min(sequence) FROM outbox WHERE lane = old.lane AND device_id = old.device_id);
        END;
        CREATE TABLE known_states (
            subject TEXT NOT NULL, device_id TEXT NOT NULL, state BLOB NOT NULL, heard_at INTEGER NOT NULL,
            PRIMARY KEY (subject, device_id)) STRICT;
        CREATE TRIGGER known_states_without_grant AFTER DELETE ON grants
        WHEN old.source = 'events'
            AND NOT EXISTS (SELECT 1 FROM grants WHERE subject = old.subject AND source = 'events') BEGIN
            DELETE FROM known_states WHERE subject = old.subject;
        END;
        CREATE TABLE endpoint_ids (digest TEXT PRIMARY KEY, device_id TEXT NOT NULL) STRICT, WITHOUT ROWID;
        """

    // Codes and refresh tokens are hashes; what a replaced token was answered, and the keys, are sealed.
    private static let provider = """
        INSERT INTO counters VALUES ('changes', 0);
        CREATE TABLE provider_grants (
            id TEXT PRIMARY KEY, subject TEXT NOT NULL, client TEXT NOT NULL, scopes TEXT NOT NULL,
            created_at INTEGER NOT NULL, redeemed_at INTEGER, used_at INTEGER, revoked_at INTEGER) STRICT;
        CREATE INDEX provider_grants_by_subject ON provider_grants (subject, client);
        CREATE INDEX provider_grants_revoked ON provider_grants (revoked_at) WHERE revoked_at IS NOT NULL;
        CREATE TABLE provider_codes (
            hash TEXT PRIMARY KEY, grant_id TEXT NOT NULL REFERENCES provider_grants (id) ON DELETE CASCADE,
            redirect_uri TEXT NOT NULL, challenge TEXT, expires_at INTEGER NOT NULL, used_at INTEGER) STRICT,
            WITHOUT ROWID;
        CREATE INDEX provider_codes_by_grant ON provider_codes (grant_id);
        CREATE INDEX provider_codes_by_end ON provider_codes (expires_at);
        CREATE TABLE refresh_tokens (
            hash TEXT PRIMARY KEY, grant_id TEXT NOT NULL REFERENCES provider_grants (id) ON DELETE CASCADE,
            issued_at INTEGER NOT NULL, replaced_at INTEGER, answer BLOB) STRICT, WITHOUT ROWID;
        CREATE INDEX refresh_tokens_by_grant ON refresh_tokens (grant_id);
        CREATE INDEX refresh_tokens_replaced ON refresh_tokens (replaced_at) WHERE replaced_at IS NOT NULL;
        CREATE TABLE provider_keys (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID;
        """

    // A hash of a password is sealed all the same; a mark is an HMAC, good for nothing but a comparison.
    private static let users = """
        CREATE TABLE users (
            subject TEXT PRIMARY KEY, username TEXT NOT NULL UNIQUE, password_hash BLOB NOT NULL, name TEXT NOT NULL,
            email TEXT, locale TEXT, disabled INTEGER NOT NULL, created_at INTEGER NOT NULL) STRICT;
        CREATE TABLE user_file_marks (subject TEXT PRIMARY KEY, mark TEXT NOT NULL) STRICT, WITHOUT ROWID;
        """

    // States are hashes, verifiers are sealed. Of the linked rows each Alexa user of a user and skill has one at most.
    private static let links = """
        CREATE TABLE link_attempts (
            state_hash TEXT PRIMARY KEY, subject TEXT NOT NULL, skill TEXT NOT NULL, redirect_uri TEXT NOT NULL,
            verifier BLOB, flow TEXT NOT NULL, browser TEXT, return_url TEXT, trace_id TEXT NOT NULL,
            created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL, used_at INTEGER) STRICT, WITHOUT ROWID;
        CREATE INDEX link_attempts_by_end ON link_attempts (expires_at);
        CREATE TABLE links (
            id TEXT PRIMARY KEY, subject TEXT NOT NULL, skill TEXT NOT NULL, stage TEXT NOT NULL, flow TEXT NOT NULL,
            status TEXT NOT NULL, region TEXT, alexa_user_id TEXT, provider_grant_id TEXT, candidates TEXT NOT NULL,
            linked_at INTEGER NOT NULL, trace_id TEXT, due_at INTEGER, attempts INTEGER NOT NULL,
            version INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        CREATE INDEX links_by_subject ON links (subject, linked_at, id);
        CREATE INDEX links_by_alexa_user ON links (alexa_user_id, skill) WHERE alexa_user_id IS NOT NULL;
        CREATE INDEX links_by_age ON links (linked_at, id);
        CREATE INDEX links_due ON links (due_at) WHERE status = 'PENDING' AND due_at IS NOT NULL;
        CREATE UNIQUE INDEX links_of_alexa_users ON links (subject, skill, alexa_user_id)
            WHERE status = 'LINKED' AND alexa_user_id IS NOT NULL;
        CREATE TABLE link_joins (
            skill TEXT NOT NULL, alexa_user_id TEXT NOT NULL, subject TEXT NOT NULL, provider_grant_id TEXT,
            region TEXT, first_seen_at INTEGER NOT NULL, seen_at INTEGER NOT NULL,
            PRIMARY KEY (skill, alexa_user_id)) STRICT, WITHOUT ROWID;
        CREATE INDEX link_joins_by_subject ON link_joins (subject);
        """

    // The operator looks for failed attempts to link among thousands of other traces.
    private static let traceKinds = """
        ALTER TABLE traces ADD COLUMN kind TEXT NOT NULL DEFAULT '';
        ALTER TABLE traces ADD COLUMN outcome TEXT NOT NULL DEFAULT '';
        UPDATE traces SET kind = json_extract(CAST(record AS TEXT), '$.kind'),
            outcome = json_extract(CAST(record AS TEXT), '$.outcome') WHERE json_valid(CAST(record AS TEXT));
        CREATE INDEX traces_by_kind ON traces (kind, outcome, started_at);
        """

    // Sessions that their users signed out of, by hash, until their cookies end by themselves.
    private static let endedSessions = """
        CREATE TABLE ended_sessions (hash TEXT PRIMARY KEY, ends_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        CREATE INDEX ended_sessions_by_end ON ended_sessions (ends_at);
        """

    // The oldest of each sort go, links apart from the rest.
    private static let traceAges = """
        CREATE INDEX traces_by_sort_and_age ON traces ((kind = 'link'), started_at);
        """
}

extension Connection {
    /// Brings the store to the newest schema, a transaction a step.
    mutating func migrate(path: String) throws(StorageError) {
        try refuseForeignFile(path: path)
        while try schemaVersion() < Migrations.newest {
            try transaction { (connection: inout Connection) throws(StorageError) in
                // Read again under the lock: another process may have done this step since.
                let version = try connection.schemaVersion()
                guard version < Migrations.newest else { return }
                try connection.execute(Migrations.steps[Int(version)])
                try connection.execute("PRAGMA user_version=\(version + 1)")
            }
        }
        let version = try schemaVersion()
        guard version == Migrations.newest else {
            throw .newerSchema(found: version, known: Migrations.newest)
        }
    }

    /// How many steps the store has gone.
    mutating func schemaVersion() throws(StorageError) -> Int64 { try row("PRAGMA user_version")?.integer(0) ?? 0 }

    private mutating func refuseForeignFile(path: String) throws(StorageError) {
        // Both in one statement, so that another process's first migration is seen whole or not at all.
        let sql = "SELECT user_version, (SELECT count(*) FROM sqlite_schema) FROM pragma_user_version"
        guard let row = try row(sql), row.integer(0) == 0, row.integer(1) > 0 else { return }
        throw .foreignFile(path: path)
    }
}
