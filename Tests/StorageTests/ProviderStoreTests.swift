import Crypto
import FoundationEssentials
import OAuth
import Storage
import TestSupport
import Testing
import Time

@Suite("What the provider gave out, in either store", .timeLimit(.minutes(5))) struct ProviderStoreTests {
    typealias Store = any (StoreKind.Store)

    static let now = UnixTime(seconds: 1_736_935_200)

    private func grant(
        _ id: String, subject: String = "u1", client: String = "alexa", at seconds: Int64 = 0
    ) -> ProviderGrant {
        ProviderGrant(
            id: id, subject: subject, clientID: client, scopes: ["profile", "devices"],
            createdAt: Self.now.adding(seconds: seconds))
    }

    private func code(_ hash: String, challenge: String? = nil) -> CodeRecord {
        CodeRecord(
            hash: hash, redirectURI: "https://a.example/cb?x=ü", challenge: challenge,
            expiresAt: Self.now.adding(seconds: 300))
    }

    @Test("a code comes back whole, and is redeemed once in its time", arguments: StoreKind.allCases)
    func redeem(kind: StoreKind) async throws {
        try await kind.with { store, _ in
            try await store.add(grant("g"), code: code("c", challenge: "x"), by: soon)
            let stored = StoredCode(code: code("c", challenge: "x"), grant: grant("g"))
            #expect(try await store.code(hash: "c", by: soon) == stored)
            #expect(try await store.code(hash: "C", by: soon) == nil)
            let end = Self.now.adding(seconds: 300)
            #expect(try await store.redeem(codeHash: "x", refreshTokenHash: "r", at: Self.now, by: soon) == .gone)
            #expect(try await store.redeem(codeHash: "c", refreshTokenHash: "r", at: end, by: soon) == .gone)
            #expect(try await store.redeem(codeHash: "c", refreshTokenHash: "r", at: Self.now, by: soon) == .redeemed)
            #expect(try await store.redeem(codeHash: "c", refreshTokenHash: "s", at: Self.now, by: soon) == .usedBefore)
            #expect(try await store.code(hash: "c", by: soon)?.code.usedAt == Self.now)
            let token = try await store.refreshToken(hash: "r", by: soon)
            #expect(token?.grant.id == "g" && token?.grant.redeemedAt == Self.now && token?.replacedAt == nil)
            #expect(try await store.refreshToken(hash: "s", by: soon) == nil)
        }
    }

    @Test("PRO-12: of many processes at one instant exactly one redeems a code", arguments: StoreKind.allCases)
    func race(kind: StoreKind) async throws {
        try await kind.withShared(3) { stores, _ in
            for round in 0..<10 {
                try await stores[0].add(grant("g\(round)"), code: code("c\(round)"), by: soon)
                let outcomes = try await withThrowingTaskGroup(of: CodeRedemption.self) { group in
                    for (number, store) in (stores + stores).enumerated() {
                        group.addTask {
                            try await store.redeem(
                                codeHash: "c\(round)", refreshTokenHash: "r\(round)-\(number)", at: Self.now, by: soon)
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(outcomes.filter { $0 == .redeemed }.count == 1)
                #expect(outcomes.filter { $0 == .usedBefore }.count == 5)
            }
        }
    }

    @Test("a spent code is used, and only an unused one can be withdrawn", arguments: StoreKind.allCases)
    func spent(kind: StoreKind) async throws {
        try await kind.with { store, _ in
            try await store.add(grant("g"), code: code("c"), by: soon)
            try await store.spend(codeHash: "c", at: Self.now, by: soon)
            #expect(try await store.redeem(codeHash: "c", refreshTokenHash: nil, at: Self.now, by: soon) == .usedBefore)
            #expect(try await !store.withdraw(codeHash: "c", by: soon))
            try await store.add(grant("h"), code: code("d"), by: soon)
            #expect(try await store.withdraw(codeHash: "d", by: soon))
            #expect(try await store.code(hash: "d", by: soon) == nil)
            #expect(try await !store.withdraw(codeHash: "d", by: soon))
        }
    }

    private func redeemed(
        _ id: String, _ store: Store, subject: String = "u1", client: String = "alexa", at seconds: Int64 = 0
    ) async throws {
        try await store.add(
            grant(id, subject: subject, client: client, at: seconds), code: code("code-\(id)"), by: soon)
        _ = try await store.redeem(
            codeHash: "code-\(id)", refreshTokenHash: "token-\(id)", at: Self.now, by: soon)
    }

    private func rotate(
        _ hash: String, _ new: String, _ store: Store, at seconds: Int64 = 0
    ) async throws -> Rotation {
        try await store.rotate(
            refreshTokenHash: hash, to: new, answer: Secret("answer for \(new)"), graceSeconds: 30,
            at: Self.now.adding(seconds: seconds), by: soon)
    }

    @Test(
        "R4: a replaced token is answered as before for a while, and is a replay afterwards",
        arguments: StoreKind.allCases)
    func rotation(kind: StoreKind) async throws {
        try await kind.withShared(2) { stores, _ in
            let store = stores[0]
            try await redeemed("g", store)
            #expect(try await rotate("nonsense", "x", store) == .gone)
            #expect(try await rotate("token-g", "t2", store) == .rotated)
            #expect(try await rotate("token-g", "t3", stores[1], at: 30) == .repeated(Secret("answer for t2")))
            #expect(try await store.refreshToken(hash: "t3", by: soon) == nil)
            #expect(try await rotate("t2", "t4", store, at: 31) == .rotated)
            #expect(try await rotate("token-g", "t5", store, at: 31) == .replayed)
            try await store.revokeProviderGrant("g", at: Self.now, by: soon)
            #expect(try await rotate("t4", "t6", store) == .gone)
        }
    }

    @Test("grants are listed, revoked and counted as changes", arguments: StoreKind.allCases)
    func grants(kind: StoreKind) async throws {
        try await kind.withShared(2) { stores, _ in
            let store = stores[0]
            let start = try await store.changeCounter(by: soon)
            try await redeemed("g1", store)
            try await redeemed("g2", store, client: "app", at: 5)
            try await redeemed("g3", store, subject: "u2")
            try await store.add(grant("unused"), code: code("unused"), by: soon)
            #expect(try await store.changeCounter(by: soon) == start)
            #expect(try await store.providerGrants(of: "u1", by: soon).map(\.id) == ["g2", "g1"])
            #expect(try await store.revokeProviderGrant("g1", at: Self.now, by: soon))
            #expect(try await !store.revokeProviderGrant("g1", at: Self.now, by: soon))
            #expect(try await !store.revokeProviderGrant("nobody", at: Self.now, by: soon))
            #expect(try await stores[1].changeCounter(by: soon) == start + 1)
            #expect(try await store.providerGrants(of: "u1", by: soon).map(\.id) == ["g2"])
            let later = Self.now.adding(seconds: 9)
            let revoked = try await store.revokeProviderGrants(of: "u1", client: nil, at: later, by: soon)
            #expect(revoked.sorted() == ["g2", "unused"])
            #expect(try await store.revokeProviderGrants(of: "u1", client: nil, at: later, by: soon).isEmpty)
            #expect(try await store.revokeProviderGrants(of: "u2", client: "app", at: later, by: soon).isEmpty)
            #expect(
                try await stores[1].revokedProviderGrants(since: Self.now, by: soon)
                    == ["g1": Self.now, "g2": later, "unused": later])
            #expect(try await store.revokedProviderGrants(since: later, by: soon).keys.sorted() == ["g2", "unused"])
            #expect(try await store.redeem(codeHash: "unused", refreshTokenHash: nil, at: Self.now, by: soon) == .gone)
            try await store.touchProviderGrant("g3", at: later, by: soon)
            #expect(try await store.providerGrants(of: "u2", by: soon).first?.usedAt == later)
        }
    }

    @Test("K2: a new signing key counts as a change, so that other processes read it", arguments: StoreKind.allCases)
    func signingKeys(kind: StoreKind) async throws {
        try await kind.withShared(2) { stores, _ in
            func key(_ id: String) -> SigningKeyRecord {
                SigningKeyRecord(
                    id: id, algorithm: "ES256", privateKeyPEM: [1], createdAt: Self.now, signsFrom: Self.now)
            }
            let start = try await stores[1].changeCounter(by: soon)
            _ = try await stores[0].insertFirstSigningKey(key("a"))
            _ = try await stores[0].insertFirstSigningKey(key("b"))
            #expect(try await stores[1].changeCounter(by: soon) == start + 1)
            try await stores[0].addSigningKey(key("b"), othersUntil: Self.now)
            #expect(try await stores[1].changeCounter(by: soon) == start + 2)
        }
    }

    @Test("J11: a secret key is made once and the same everywhere", arguments: StoreKind.allCases)
    func secretKeys(kind: StoreKind) async throws {
        try await kind.withShared(2) { stores, _ in
            let first = try await stores[0].secretKey(named: "sessions", else: [1, 2], by: soon)
            let again = try await stores[1].secretKey(named: "sessions", else: [3], by: soon)
            let other = try await stores[1].secretKey(named: "forms", else: [3], by: soon)
            #expect(first == [1, 2] && again == [1, 2] && other == [3])
        }
    }

    @Test("what is of no use any more goes, and nothing else", arguments: StoreKind.allCases)
    func pruning(kind: StoreKind) async throws {
        try await kind.with { store, _ in
            try await redeemed("kept", store)
            try await redeemed("revoked", store)
            try await store.add(grant("unused"), code: code("unused"), by: soon)
            _ = try await rotate("token-kept", "t2", store)
            try await store.revokeProviderGrant("revoked", at: Self.now, by: soon)
            let early = ProviderPruning(codes: Self.now, replacedTokens: Self.now, revokedGrants: Self.now)
            #expect(try await store.pruneProvider(before: early, by: soon) == 0)
            let late = Self.now.adding(seconds: 301)
            try await store.pruneProvider(
                before: ProviderPruning(codes: late, replacedTokens: late, revokedGrants: late), by: soon)
            #expect(try await store.code(hash: "unused", by: soon) == nil)
            #expect(try await store.code(hash: "code-kept", by: soon) == nil)
            #expect(try await store.refreshToken(hash: "token-revoked", by: soon) == nil)
            #expect(try await store.refreshToken(hash: "token-kept", by: soon) == nil)
            #expect(try await store.refreshToken(hash: "t2", by: soon) != nil)
            #expect(try await store.providerGrants(of: "u1", by: soon).map(\.id) == ["kept"])
        }
    }

    @Test("R8: the file holds neither answers nor keys in clear")
    func sealed() async throws {
        try await withFolder { folder in
            let store = try SQLiteStore(
                url: "sqlite:\(folder)/store.sqlite", keys: try TestKeys.keys(TestKeys.first),
                clock: { Self.now })
            try await redeemed("g", store)
            _ = try await store.rotate(
                refreshTokenHash: "token-g", to: "t2", answer: Secret("ANSWERMARKER"), graceSeconds: 30, at: Self.now,
                by: soon)
            _ = try await store.secretKey(named: "sessions", else: Array("KEYMARKER".utf8), by: soon)
            for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
                let text = String(
                    decoding: FileManager.default.contents(atPath: folder + "/" + name) ?? Data(), as: UTF8.self)
                #expect(!text.contains("ANSWERMARKER") && !text.contains("KEYMARKER"))
            }
        }
    }

    @Test("OPS-3: what was answered survives the end of the process that answered it")
    func restart() async throws {
        try await withFolder { folder in
            await #expect(processExitsWith: .signal(9)) { [folder = folder as String] in
                let store = try SQLiteStore(
                    url: "sqlite:\(folder)/store.sqlite", keys: try TestKeys.keys(TestKeys.first),
                    clock: { ProviderStoreTests.now })
                try await ProviderStoreTests().redeemed("g", store)
                killThisProcess()
            }
            let store = try SQLiteStore(
                url: "sqlite:\(folder)/store.sqlite", keys: try TestKeys.keys(TestKeys.first), clock: { Self.now })
            #expect(try await store.refreshToken(hash: "token-g", by: soon)?.grant.id == "g")
        }
    }
}
