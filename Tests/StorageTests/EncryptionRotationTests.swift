import Alexa
import Concurrency
import Crypto
import FoundationEssentials
import OAuth
import Storage
import TestSupport
import Testing
import Time

@Suite("Another encryption key", .timeLimit(.minutes(5))) struct EncryptionRotationTests {
    typealias Files = SQLiteFileTests

    static let (old, new) = (TestKeys.first, TestKeys.second)
    /// What is bound to a place in its row is so with characters of several bytes too.
    static let subject = "ü 1"

    static func id(_ key: String) throws -> String { try TestKeys.keys(key).ids[0] }

    /// A grant of each number, and one value in each of the other columns.
    static func fill(_ store: SQLiteStore, grants: Int = 1) async throws {
        for column in SealedColumn.allCases {
            switch column {
            case .grantAccessToken, .keyProbe: break  // the one comes with its refresh token, the other by itself
            case .grantRefreshToken:
                for number in 0..<grants {
                    try await store.put(
                        credentials("\(number)"), for: key(subject: number == 0 ? subject : "\(number)"), sequence: 1,
                        by: soon)
                }
            case .signingKey: _ = try await store.insertFirstSigningKey(signingKey)
            case .outboxBody: _ = try await store.post([changed([brightness(7)], subject: subject)], by: soon)
            case .knownState: break  // written with the event
            case .providerKey: _ = try await store.secretKey(named: "cookie", else: [1, 2, 3], by: soon)
            case .refreshAnswer:
                let now = Files.clock()
                try await store.add(
                    ProviderGrant(id: "g", subject: subject, clientID: "app", scopes: [], createdAt: now),
                    code: CodeRecord(
                        hash: "c", redirectURI: "x:/", challenge: nil, expiresAt: now.adding(seconds: 300)), by: soon)
                _ = try await store.redeem(codeHash: "c", refreshTokenHash: "r1", at: now, by: soon)
                #expect(try await answer(of: store) == .rotated)
            case .passwordHash: #expect(try await store.add(user, by: soon) == .added)
            case .linkVerifier: #expect(try await store.add(attempt("s", verifier: "the verifier"), by: soon))
            }
        }
    }

    static let user = StoredUser(
        subject: subject, username: "ü", passwordHash: Secret("$scrypt$"), name: "Ü", createdAt: Files.clock())

    static let signingKey = SigningKeyRecord(
        id: "k", algorithm: "ES256", privateKeyPEM: Array("PEM".utf8), createdAt: Files.clock(),
        signsFrom: Files.clock())

    static func answer(of store: SQLiteStore) async throws -> Rotation {
        try await store.rotate(
            refreshTokenHash: "r1", to: "r2", answer: Secret("the answer"), graceSeconds: 30, at: Files.clock(),
            by: soon)
    }

    /// Reads everything that ``fill(_:grants:)`` wrote.
    static func expectAll(in store: SQLiteStore, grants: Int = 1) async throws {
        for number in 0..<grants {
            let stored = try await store.grant(key(subject: number == 0 ? subject : "\(number)"), by: soon)
            #expect(stored?.credentials == credentials("\(number)"))
            #expect(stored?.version == 1)
        }
        #expect(try await store.signingKeys() == [signingKey])
        let known = try await store.knownState(subject: subject, deviceID: "d1", by: soon)
        #expect(known?.properties == [brightness(7)])
        #expect(try await store.secretKey(named: "cookie", else: [], by: soon) == [1, 2, 3])
        #expect(try await answer(of: store) == .repeated(Secret("the answer")))
        #expect(try await store.user(subject: subject, by: soon) == user)
        #expect(try await store.attempt(stateHash: "s", by: soon)?.verifier == Secret("the verifier"))
        let lane = try #require(try await store.lease())
        #expect(lane.rows.map(\.properties) == [[brightness(7)]])
        try await store.releaseLane(lane.lease, by: soon)
    }

    /// How often a record of that key begins in the store's files.
    static func records(of key: String, at path: String) throws -> Int {
        let head = try Data([1] + #require(Hex.decode(id(key))))
        return try ["", "-wal"].reduce(into: 0) { count, end in
            guard FileManager.default.fileExists(atPath: path + end) else { return }
            var rest = try Data(contentsOf: URL(filePath: path + end))[...]
            while let range = rest.firstRange(of: head) {
                count += 1
                rest = rest[range.upperBound...]
            }
        }
    }

    @Test("every column of bytes in the schema is on the list of sealed ones, but for traces")
    func list() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources/Storage/SQLite/Migrations.swift")
        let schema = try String(contentsOf: file, encoding: .utf8)
        var found: [String] = []
        for statement in schema.split(separator: ";") {
            let words = statement.split(whereSeparator: { $0.isWhitespace || "(),\"".contains($0) })
            guard let table = words.firstIndex(of: "TABLE").map({ words[$0 + 1] }) else { continue }
            for (name, type) in zip(words, words.dropFirst()) where type == "BLOB" { found.append("\(table).\(name)") }
        }
        #expect(found.sorted() == (SealedColumn.allCases.map(\.rawValue) + ["traces.record"]).sorted())
    }

    @Test("everything is sealed with the first key, and neither the file nor its journal holds a record of the other")
    func whole() async throws {
        try await withFolder { folder in
            let path = folder + "/store.sqlite"
            let (old, new) = (Self.old, Self.new)
            try await Self.fill(Files.open(path, [old]), grants: 450)
            #expect(try Self.records(of: old, at: path) > 900)
            let counts = Locked<[Int]>([])
            let store = try Files.open(path, [new, old])
            let done = try await store.rotateEncryption { count in counts.withLock { $0.append(count) } }
            // Two tokens a grant, and one value of each other kind.
            #expect(done.records == 907)
            #expect(done.retired == [try Self.id(old)])
            #expect(done.isJournalEmpty)
            #expect(counts.withLock { $0 } == [200, 400, 450, 650, 850, 900, 901, 902, 903, 904, 905, 906, 907])
            #expect(try Self.records(of: old, at: path) == 0)
            #expect(throws: StorageError.wrongEncryptionKey(id: try Self.id(new))) {
                _ = try Files.open(path, [old])
            }
            let again = try await store.rotateEncryption()
            #expect(again.records == 0 && again.retired.isEmpty)
            try await Self.expectAll(in: Files.open(path, [new]), grants: 450)
        }
    }

    @Test("with one key there is nothing to do, also when called twice")
    func nothing() async throws {
        try await withFolder { folder in
            let store = try Files.open(folder + "/store.sqlite", [Self.old])
            try await Self.fill(store)
            for _ in 0..<2 {
                let done = try await store.rotateEncryption()
                #expect(done.records == 0 && done.retired.isEmpty)
            }
            try await Self.expectAll(in: store)
        }
    }

    @Test("killed after any batch, it is taken up again, and the old key is needed until then", arguments: 1...5)
    func killed(batches: Int) async throws {
        try await withFolder { folder in
            let path = folder + "/store.sqlite"
            try await Self.fill(Files.open(path, [Self.old]), grants: 250)
            await #expect(processExitsWith: .signal(9)) { [path = path as String, batches = batches as Int] in
                let keys = [EncryptionRotationTests.new, EncryptionRotationTests.old]
                let done = Locked(0)
                _ = try await SQLiteFileTests.open(path, keys).rotateEncryption { _ in
                    if done.withLock({
                        $0 += 1; return $0
                    }) == batches {
                        killThisProcess()
                    }
                }
            }
            #expect(throws: StorageError.wrongEncryptionKey(id: try Self.id(Self.old))) {
                _ = try Files.open(path, [Self.new])
            }
            let store = try Files.open(path, [Self.new, Self.old])
            let done = try await store.rotateEncryption()
            #expect(done.records == 507 - [200, 250, 450, 500, 501][batches - 1])
            try await Self.expectAll(in: Files.open(path, [Self.new]), grants: 250)
        }
    }

    @Test("whoever writes meanwhile loses nothing: neither a value, nor a lease, nor a version")
    func meanwhile() async throws {
        try await withFolder { folder in
            let path = folder + "/store.sqlite"
            let (old, new) = (Self.old, Self.new)
            try await Self.fill(Files.open(path, [old]), grants: 400)
            let store = try Files.open(path, [new, old])
            let serving = try Files.open(path, [new, old])
            let held = try await serving.leaseGrant(key(subject: "399"), owner: "serve", for: .seconds(60), by: soon)
            guard case .owned = held else {
                Issue.record("\(held)")
                return
            }
            async let rotation = store.rotateEncryption()
            for number in 100..<300 {
                try await serving.put(
                    credentials("new \(number)"), for: key(subject: "\(number)"), sequence: 2, by: soon)
            }
            let done = try await rotation
            #expect((507..<808).contains(done.records))
            let last = try Files.open(path, [new])
            for number in 100..<300 {
                let grant = try await last.grant(key(subject: "\(number)"), by: soon)
                #expect(grant?.credentials == credentials("new \(number)") && grant?.version == 2)
            }
            let isTaken = try await serving.refresh(
                key(subject: "399"), with: credentials("refreshed"), owner: "serve", version: 1, by: soon)
            #expect(isTaken)
            #expect(try await last.grant(key(subject: "399"), by: soon)?.credentials == credentials("refreshed"))
        }
    }

    @Test("a process that goes on with the old key puts it back on the list, so that it cannot be dropped unnoticed")
    func straggler() async throws {
        try await withFolder { folder in
            let path = folder + "/store.sqlite"
            let (old, new) = (Self.old, Self.new)
            let straggler = try Files.open(path, [old, new])
            let store = try Files.open(path, [new, old])
            #expect(try await store.rotateEncryption().retired == [try Self.id(old)])
            _ = try Files.open(path, [new])
            try await straggler.put(credentials("late"), for: key(), sequence: 1, by: soon)
            #expect(throws: StorageError.wrongEncryptionKey(id: try Self.id(old))) { _ = try Files.open(path, [new]) }
            #expect(try await store.rotateEncryption().records == 2)
            #expect(try await Files.open(path, [new]).grant(key(), by: soon)?.credentials == credentials("late"))
        }
    }

    @Test("a key that is in no line is named, and what it sealed is left as it is")
    func missing() async throws {
        try await withFolder { folder in
            let path = folder + "/store.sqlite"
            let third = Base64.encode([UInt8](repeating: 3, count: 32))
            let store = try Files.open(path, [Self.new, Self.old])
            try await Files.open(path, [third, Self.new]).put(credentials("x"), for: key(), sequence: 1, by: soon)
            await #expect(throws: StorageError.wrongEncryptionKey(id: try Self.id(third))) {
                _ = try await store.rotateEncryption()
            }
            let whole = try Files.open(path, [Self.new, Self.old, third])
            #expect(try await whole.grant(key(), by: soon)?.credentials == credentials("x"))
            #expect(try await whole.rotateEncryption().records == 2)
        }
    }
}
