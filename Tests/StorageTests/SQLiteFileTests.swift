import Alexa
import Crypto
import FoundationEssentials
import OAuth
import Storage
import Testing
import Time

@Suite("The SQLite file", .timeLimit(.minutes(5))) struct SQLiteFileTests {
    static let clock: WallClock = { UnixTime(seconds: 1_736_935_200) }

    static func open(_ path: String, _ keys: [String] = [TestKeys.first]) throws(StorageError) -> SQLiteStore {
        try SQLiteStore(
            url: "sqlite:" + path,
            keys: try SealingKeys(text: Secret(keys.joined(separator: "\n")), origin: "test"), clock: clock)
    }

    private func fault(_ path: String, _ keys: [String] = [TestKeys.first]) -> StorageError? {
        do throws(StorageError) {
            _ = try Self.open(path, keys)
            return nil
        } catch { return error }
    }

    @Test("OPS-3: a store that cannot be written does not open, and the error names path and reason")
    func unwritable() async throws {
        try await withFolder { folder in
            try Data("x".utf8).write(to: URL(filePath: folder + "/file"))
            let cases = [
                (folder + "/none/store.sqlite", "No such file or directory"), (folder, "it is not a file"),
                (folder + "/file/store.sqlite", "Not a directory"), ("/proc/store.sqlite", "cannot be opened"),
            ]
            for (path, reason) in cases {
                let text = try #require(fault(path)).description
                #expect(text.contains(path) && text.contains(reason), "\(text)")
            }
        }
    }

    @Test("a file that is no database is left alone")
    func foreign() async throws {
        try await withFolder { folder in
            let path = folder + "/text"
            let text = Data(String(repeating: "not a database\n", count: 100).utf8)
            try text.write(to: URL(filePath: path))
            #expect(fault(path)?.description.contains("file is not a database") == true)
            #expect(try Data(contentsOf: URL(filePath: path)) == text)
        }
    }

    @Test("a database of another program is refused")
    func otherProgram() async throws {
        try await withFolder { folder in
            let path = folder + "/store.sqlite"
            _ = try Self.open(path)
            var file = try Data(contentsOf: URL(filePath: path))
            // A file with tables whose schema number was never set (bytes 60 to 63; SQLite's file format, §1.3).
            file[63] = 0
            try file.write(to: URL(filePath: path))
            #expect(fault(path) == .foreignFile(path: path))
        }
    }

    @Test("a URL that names no file is refused", arguments: ["", "sqlite:", "store.sqlite", "postgresql://h/d"])
    func url(url: String) throws {
        let keys = try TestKeys.keys(TestKeys.first)
        #expect(throws: StorageError.unknownURL) { _ = try SQLiteStore(url: url, keys: keys, clock: Self.clock) }
    }

    @Test("the file and what SQLite puts beside it are the owner's alone, also where they were not before")
    func modes() async throws {
        try await withFolder { folder in
            let path = folder + "/store.sqlite"
            try Data().write(to: URL(filePath: path))
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
            for file in [path, folder + "/new.sqlite"] {
                let store = try Self.open(file)
                try await store.put(credentials("a"), for: key(), sequence: 1, by: soon)
                for suffix in ["", "-wal", "-shm"] {
                    let attributes = try FileManager.default.attributesOfItem(atPath: file + suffix)
                    #expect(attributes[.posixPermissions] as? Int == 0o600, "\(file + suffix)")
                }
                try await store.probeWriting(by: soon)
            }
        }
    }

    @Test("what was stored is there after the store is opened again, all migrations done once")
    func reopened() async throws {
        try await withFolder { folder in
            let path = folder + "/store.sqlite"
            for number: Int64 in 1...3 {
                let store = try Self.open(path)
                #expect(try await store.nextGrantSequence(by: soon) == number)
                if number == 1 { try await store.put(credentials("a"), for: key(), sequence: 1, by: soon) }
                #expect(try await store.grant(key(), by: soon)?.credentials == credentials("a"))
            }
        }
    }

    @Test("OPS-3: what was answered is there after the process was killed")
    func killed() async throws {
        try await withFolder { folder in
            let path = folder + "/store.sqlite"
            await #expect(processExitsWith: .signal(9)) { [path = path as String] in
                let store = try SQLiteFileTests.open(path)
                try await store.put(credentials("a"), for: key(), sequence: 1, by: soon)
                _ = try await store.claimAcceptGrant(
                    codeHash: "h1", subject: "u1", owner: "dead", for: .seconds(8), by: soon)
                killThisProcess()
            }
            let store = try Self.open(path)
            #expect(try await store.grant(key(), by: soon)?.credentials == credentials("a"))
            let claim = try await store.claimAcceptGrant(
                codeHash: "h1", subject: "u1", owner: "living", for: .seconds(8), by: soon)
            #expect(claim == .held)
        }
    }

    @Test("many may open a new store at once, in this process and in others")
    func concurrentStart() async throws {
        try await withFolder { folder in
            let path = folder + "/store.sqlite"
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<2 {
                    group.addTask {
                        await #expect(processExitsWith: .success) { [path = path as String] in
                            let store = try SQLiteFileTests.open(path)
                            for _ in 0..<20 { _ = try await store.nextGrantSequence(by: soon) }
                        }
                    }
                    group.addTask {
                        do {
                            let store = try Self.open(path)
                            for _ in 0..<20 { _ = try await store.nextGrantSequence(by: soon) }
                        } catch { Issue.record("\(error)") }
                    }
                }
            }
            let next = try await Self.open(path).nextGrantSequence(by: soon)
            #expect(next == 81)
        }
    }

    @Test("a store of a newer program is refused")
    func newer() async throws {
        try await withFolder { folder in
            let path = folder + "/store.sqlite"
            _ = try Self.open(path)
            var file = try Data(contentsOf: URL(filePath: path))
            // The schema's number stands in bytes 60 to 63 of the file (SQLite's file format, §1.3).
            let known = Int64(file[63])
            file[63] += 1
            try file.write(to: URL(filePath: path))
            #expect(fault(path) == .newerSchema(found: known + 1, known: known))
            #expect(fault(path)?.description.contains("newer program") == true)
        }
    }

    @Test("a key that did not seal what is stored is refused at once; further keys do no harm")
    func wrongKey() async throws {
        try await withFolder { folder in
            let path = folder + "/store.sqlite"
            let (one, two) = (TestKeys.first, TestKeys.second)
            let id = try TestKeys.keys(one).ids[0]
            try await Self.open(path, [one]).put(credentials("a"), for: key(), sequence: 1, by: soon)
            #expect(fault(path, [two]) == .wrongEncryptionKey(id: id))
            #expect(fault(path, [one, two]) == nil)
            let rotated = try Self.open(path, [two, one])
            try await rotated.put(credentials("b"), for: key(subject: "u2"), sequence: 2, by: soon)
            #expect(try await rotated.grant(key(), by: soon)?.credentials == credentials("a"))
            #expect(try await rotated.grant(key(subject: "u2"), by: soon)?.credentials == credentials("b"))
            // Both keys have sealed something now, so neither may be missing.
            #expect(fault(path, [one]) != nil)
            #expect(fault(path, [two]) != nil)
        }
    }

    @Test("no Amazon token and no private key can be read in the files")
    func rawBytes() async throws {
        try await withFolder { folder in
            let path = folder + "/store.sqlite"
            let store = try Self.open(path)
            try await store.put(credentials("a"), for: key(subject: "visible-subject"), sequence: 1, by: soon)
            let pem = Array("-----BEGIN PRIVATE KEY-----\nMARKER\n".utf8)
            _ = try await store.insertFirstSigningKey(
                SigningKeyRecord(
                    id: "visible-key", algorithm: "ES256", privateKeyPEM: pem, createdAt: Self.clock(),
                    signsFrom: Self.clock()))
            let files = try ["", "-wal"].map { try Data(contentsOf: URL(filePath: path + $0)) }
            // What is in clear proves that the search finds what is there.
            for visible in ["visible-subject", "visible-key"] {
                #expect(files.contains { $0.firstRange(of: Data(visible.utf8)) != nil }, "\(visible)")
            }
            let secrets = ["Atza|", "access-a", "Atzr|", "refresh-a", "PRIVATE KEY", "MARKER"]
            for secret in secrets + secrets.map({ Base64.encode(Array($0.utf8)) }) {
                #expect(!files.contains { $0.firstRange(of: Data(secret.utf8)) != nil }, "\(secret)")
            }
        }
    }

    @Test("a sealed value that was moved or changed does not open, and the error names its column alone")
    func moved() async throws {
        try await withFolder { folder in
            let path = folder + "/store.sqlite"
            let keys = try TestKeys.keys(TestKeys.first)
            // Two tokens of one length, so that their records can change places in the file.
            let tokens = AmazonCredentials(
                accessToken: Secret("token-one"), refreshToken: Secret("token-two"), expiresAt: Self.clock())
            try await Self.open(path).put(tokens, for: key(), sequence: 1, by: soon)
            let original = try Data(contentsOf: URL(filePath: path))
            let head = Data([1] + (Hex.decode(keys.ids[0]) ?? []))
            let length = head.count + 12 + 9 + 16
            var starts: [Int] = []
            var rest = original[...]
            while let range = rest.firstRange(of: head) {
                starts.append(range.lowerBound)
                rest = original[range.upperBound...]
            }
            // The records of one row lie side by side.
            let pair = try #require(starts.first { starts.contains($0 + length) })
            let (access, refresh) = (original[pair..<pair + length], original[pair + length..<pair + 2 * length])
            var flipped = original
            flipped[pair + length - 1] ^= 1
            let swapped = original[..<pair] + refresh + access + original[(pair + 2 * length)...]
            for (name, file) in [("flipped", flipped), ("swapped", Data(swapped))] {
                try file.write(to: URL(filePath: path))
                let store = try Self.open(path)
                let damage = StorageError.damaged(table: "grants", column: "access_token").description
                await #expect(throws: GrantStoreError.unavailable(damage), "\(name)") {
                    _ = try await store.grant(key(), by: soon)
                }
            }
            try original.write(to: URL(filePath: path))
            #expect(try await Self.open(path).grant(key(), by: soon)?.credentials == tokens)
        }
    }

    @Test("a call whose deadline has passed changes nothing")
    func deadline() async throws {
        try await withFolder { folder in
            let store = try Self.open(folder + "/store.sqlite")
            let past = Deadline.after(.zero, from: .now)
            await #expect(throws: GrantStoreError.timedOut) {
                try await store.put(credentials("a"), for: key(), sequence: 1, by: past)
            }
            await #expect(throws: GrantStoreError.timedOut) { _ = try await store.grant(key(), by: past) }
            #expect(try await store.grant(key(), by: soon) == nil)
        }
    }
}
