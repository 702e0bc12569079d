import Crypto
import FoundationEssentials
import OAuth
import Storage
import TestSupport
import Testing
import Time

@Suite("The provider's users, in either store", .timeLimit(.minutes(5))) struct UserStoreTests {
    typealias Store = any (StoreKind.Store)

    static let now = UnixTime(seconds: 1_736_935_200)

    private func user(
        _ subject: String, _ username: String? = nil, hash: String = "$scrypt$one", email: String? = nil,
        locale: String? = nil
    ) -> StoredUser {
        StoredUser(
            subject: subject, username: username ?? "name-\(subject)", passwordHash: Secret(hash), name: "Ä \(subject)",
            email: email, locale: locale, createdAt: Self.now)
    }

    private func redeemed(_ id: String, of subject: String, _ store: Store) async throws {
        try await store.add(
            ProviderGrant(id: id, subject: subject, clientID: "alexa", scopes: ["profile"], createdAt: Self.now),
            code: CodeRecord(
                hash: "code-\(id)", redirectURI: "https://a.example", challenge: nil,
                expiresAt: Self.now.adding(seconds: 300)),
            by: soon)
        _ = try await store.redeem(
            codeHash: "code-\(id)", refreshTokenHash: "token-\(id)", at: Self.now, by: soon)
    }

    @Test("a user comes back whole, by subject and by username", arguments: StoreKind.allCases)
    func add(kind: StoreKind) async throws {
        try await kind.withShared(2) { stores, _ in
            let full = user("u1", "ünal", email: "u@example.com", locale: "de-AT")
            let start = try await stores[1].changeCounter(by: soon)
            #expect(try await stores[0].add(full, by: soon) == .added)
            #expect(try await stores[1].changeCounter(by: soon) == start + 1)
            #expect(try await stores[0].add(user("u2"), by: soon) == .added)
            #expect(try await stores[1].user(subject: "u1", by: soon) == full)
            #expect(try await stores[1].user(named: "ünal", by: soon) == full)
            #expect(try await stores[1].user(subject: "u2", by: soon) == user("u2"))
            for name in ["u1", "Ünal", "u\u{308}nal", "ünal ", "unal", ""] {
                #expect(try await stores[1].user(named: name, by: soon) == nil, "\(name)")
            }
            #expect(try await stores[1].user(subject: "U1", by: soon) == nil)
        }
    }

    @Test("a taken username or subject is said, and changes nothing", arguments: StoreKind.allCases)
    func taken(kind: StoreKind) async throws {
        try await kind.with { store, _ in
            #expect(try await store.add(user("u1", "alice"), by: soon) == .added)
            let counter = try await store.changeCounter(by: soon)
            #expect(try await store.add(user("u2", "alice"), by: soon) == .usernameTaken)
            #expect(try await store.add(user("u1", "bob"), by: soon) == .subjectTaken)
            #expect(try await store.add(user("u1", "alice"), by: soon) == .usernameTaken)
            #expect(try await store.changeCounter(by: soon) == counter)
            #expect(try await store.users(after: nil, limit: 9, by: soon) == [user("u1", "alice")])
            // What looks alike is another name all the same.
            #expect(try await store.add(user("u3", "Alice"), by: soon) == .added)
        }
    }

    @Test("of many who add a username at one instant exactly one does", arguments: StoreKind.allCases)
    func race(kind: StoreKind) async throws {
        try await kind.withShared(3) { stores, _ in
            let outcomes = try await withThrowingTaskGroup(of: UserAddition.self) { group in
                for (number, store) in (stores + stores).enumerated() {
                    group.addTask { try await store.add(user("u\(number)", "same"), by: soon) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.filter { $0 == .added }.count == 1)
            #expect(outcomes.filter { $0 == .usernameTaken }.count == 5)
        }
    }

    @Test("users are listed page by page in the order of their usernames", arguments: StoreKind.allCases)
    func list(kind: StoreKind) async throws {
        try await kind.with { store, _ in
            for name in ["d", "a", "Z", "c", "ä"] { _ = try await store.add(user("s-\(name)", name), by: soon) }
            var pages: [[String]] = []
            var last: String?
            while pages.count < 9 {
                let page = try await store.users(after: last, limit: 2, by: soon)
                if page.isEmpty { break }
                pages.append(page.map(\.username))
                last = page.last?.username
            }
            #expect(pages == [["Z", "a"], ["c", "d"], ["ä"]])
        }
    }

    @Test("disabling revokes the user's grants and no others, and counts as a change", arguments: StoreKind.allCases)
    func disable(kind: StoreKind) async throws {
        try await kind.withShared(2) { stores, _ in
            let store = stores[0]
            for subject in ["u1", "u2"] {
                _ = try await store.add(user(subject), by: soon)
                try await redeemed("g-\(subject)", of: subject, store)
            }
            let start = try await store.changeCounter(by: soon)
            #expect(try await store.setUser("u1", isDisabled: true, at: Self.now, by: soon))
            #expect(try await stores[1].changeCounter(by: soon) == start + 1)
            #expect(try await stores[1].user(subject: "u1", by: soon)?.isDisabled == true)
            #expect(try await stores[1].user(subject: "u2", by: soon)?.isDisabled == false)
            #expect(try await stores[1].revokedProviderGrants(since: Self.now, by: soon) == ["g-u1": Self.now])
            #expect(try await stores[1].providerGrants(of: "u2", by: soon).map(\.id) == ["g-u2"])
            #expect(try await stores[1].setUser("u1", isDisabled: false, at: Self.now, by: soon))
            #expect(try await store.changeCounter(by: soon) == start + 2)
            #expect(try await store.user(subject: "u1", by: soon)?.isDisabled == false)
            #expect(try await store.providerGrants(of: "u1", by: soon).isEmpty, "a grant does not come back")
            for nobody in ["u3", "U1", "name-u1"] {
                #expect(try await !store.setUser(nobody, isDisabled: true, at: Self.now, by: soon))
            }
            #expect(try await store.changeCounter(by: soon) == start + 2)
        }
    }

    @Test("another password revokes the user's grants and no others", arguments: StoreKind.allCases)
    func password(kind: StoreKind) async throws {
        try await kind.with { store, _ in
            for subject in ["u1", "u2"] {
                _ = try await store.add(user(subject), by: soon)
                try await redeemed("g-\(subject)", of: subject, store)
            }
            let start = try await store.changeCounter(by: soon)
            #expect(try await store.setPasswordHash(Secret("$scrypt$two"), of: "u1", at: Self.now, by: soon))
            #expect(try await store.changeCounter(by: soon) == start + 1)
            #expect(try await store.user(subject: "u1", by: soon) == user("u1", hash: "$scrypt$two"))
            #expect(try await store.user(subject: "u2", by: soon) == user("u2"))
            #expect(try await store.revokedProviderGrants(since: Self.now, by: soon).keys.sorted() == ["g-u1"])
            for nobody in ["u3", "U1", "name-u1"] {
                #expect(try await !store.setPasswordHash(Secret("x"), of: nobody, at: Self.now, by: soon))
            }
            #expect(try await store.changeCounter(by: soon) == start + 1)
        }
    }

    @Test(
        "a user of the file who has another mark or is gone loses the grants, and nobody else does",
        arguments: StoreKind.allCases)
    func file(kind: StoreKind) async throws {
        try await kind.withShared(2) { stores, _ in
            for subject in ["same", "other", "gone", "new"] { try await redeemed(subject, of: subject, stores[0]) }
            let first = ["same": "1", "other": "1", "gone": "1"]
            let start = try await stores[0].changeCounter(by: soon)
            #expect(try await stores[0].compareUsersFile(marks: first, at: Self.now, by: soon) == [])
            #expect(try await stores[1].compareUsersFile(marks: first, at: Self.now, by: soon) == [])
            #expect(try await stores[0].changeCounter(by: soon) == start)
            let second = ["same": "1", "other": "2", "new": "1"]
            #expect(try await stores[1].compareUsersFile(marks: second, at: Self.now, by: soon) == ["gone", "other"])
            #expect(try await stores[0].changeCounter(by: soon) == start + 1)
            #expect(
                try await stores[0].revokedProviderGrants(since: Self.now, by: soon).keys.sorted() == ["gone", "other"])
            #expect(try await stores[0].compareUsersFile(marks: second, at: Self.now, by: soon) == [])
            #expect(
                try await stores[0].compareUsersFile(marks: [:], at: Self.now, by: soon) == ["new", "other", "same"])
        }
    }

    @Test(
        "a session that was ended is, for every process, until its cookie ends by itself", arguments: StoreKind.allCases
    )
    func endedSessions(kind: StoreKind) async throws {
        try await kind.withShared(2) { stores, _ in
            let end = Self.now.adding(seconds: 60)
            try await stores[0].endSession(hash: "a", until: end, at: Self.now, by: soon)
            #expect(try await stores[1].isSessionEnded(hash: "a", by: soon))
            #expect(try await !stores[1].isSessionEnded(hash: "b", by: soon))
            try await stores[1].endSession(hash: "a", until: end.adding(seconds: 1), at: Self.now, by: soon)
            try await stores[1].endSession(hash: "b", until: end, at: end, by: soon)
            #expect(try await stores[0].isSessionEnded(hash: "a", by: soon))
            try await stores[0].endSession(hash: "c", until: end, at: end.adding(seconds: 2), by: soon)
            for hash in ["a", "b"] { #expect(try await !stores[0].isSessionEnded(hash: hash, by: soon), "forgotten") }
        }
    }

    @Test("the file holds no hash of a password in clear")
    func sealed() async throws {
        try await withFolder { folder in
            let store = try SQLiteStore(
                url: "sqlite:\(folder)/store.sqlite", keys: try TestKeys.keys(TestKeys.first), clock: { Self.now })
            _ = try await store.add(user("u1", hash: "HASHMARKER1"), by: soon)
            try await store.setPasswordHash(Secret("HASHMARKER2"), of: "u1", at: Self.now, by: soon)
            for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
                let text = String(
                    decoding: FileManager.default.contents(atPath: folder + "/" + name) ?? Data(), as: UTF8.self)
                #expect(!text.contains("HASHMARKER"))
            }
        }
    }
}
