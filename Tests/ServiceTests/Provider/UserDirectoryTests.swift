import Concurrency
import Crypto
import JSON
import OAuth
import Service
import Storage
import TestSupport
import Testing
import Time

/// The users of the file and of the store as one, and what is kept of the latter.
@Suite("The directory of users", .timeLimit(.minutes(5))) struct UserDirectoryTests {
    static let hash = Secret(SignInPiecesTests.vector)

    static func stored(_ subject: String, _ username: String, email: String? = nil) -> StoredUser {
        StoredUser(
            subject: subject, username: username, passwordHash: hash, name: "Name of \(subject)", email: email,
            createdAt: ManualClock.start)
    }

    private func harness(_ users: StoredUser...) async throws -> TokenHarness {
        let harness = try await TokenHarness()
        for user in users { _ = try await harness.store.add(user, by: harness.deadline) }
        return harness
    }

    private func token(_ subject: String, _ harness: TokenHarness) throws -> String {
        try harness.embedded.accessToken(
            .init(subject: subject, clientID: "alexa", scopes: ["profile"]), lifetimeSeconds: 3600
        ).exposed
    }

    @Test("a user of the file is found although the store does not answer, and hides one of the store")
    func file() async throws {
        let harness = try await harness(
            Self.stored("u1", "ann"), Self.stored("s2", "alice"), Self.stored("s3", "cleo", email: "c@example.com"))
        let users = harness.embedded.users
        #expect(try await users.user(named: "ann", by: harness.deadline) == nil)
        #expect(try await users.user(named: "alice", by: harness.deadline)?.subject == "u1")
        #expect(try await users.user(subject: "s2", by: harness.deadline)?.username == "alice")
        #expect(try await users.user(named: "cleo", by: harness.deadline)?.email == "c@example.com")
        for name in ["Cleo", "cleo ", "s3", ""] {
            #expect(try await users.user(named: name, by: harness.deadline) == nil)
        }
        harness.failing.isDown.withLock { $0 = true }
        #expect(try await users.user(subject: "u1", by: harness.deadline)?.username == "alice")
        #expect(try await users.current(subject: "u1", by: harness.deadline)?.username == "alice")
        #expect(try await users.user(named: "bob", by: harness.deadline)?.subject == "u2")
        await #expect(throws: ProviderStoreError.self) { try await users.user(named: "cleo", by: harness.deadline) }
        await #expect(throws: ProviderStoreError.self) { try await users.current(subject: "s3", by: harness.deadline) }
    }

    @Test("tokens of a user of the store are good, and are no more once the user is disabled and that is known")
    func disabled() async throws {
        let harness = try await harness(Self.stored("s3", "cleo"))
        let token = try token("s3", harness)
        #expect(await harness.rejection(token) == nil)
        #expect(try await harness.store.setUser("s3", isDisabled: true, at: harness.clock.now, by: harness.deadline))
        #expect(await harness.rejection(token) == nil, "what the store said is kept")
        harness.clock.advance(by: .milliseconds(4999))
        #expect(await harness.rejection(token) == nil)
        harness.clock.advance(by: .milliseconds(1))
        #expect(await harness.rejection(token) == .revoked)
        #expect(await harness.rejection(try self.token("s4", harness)) == .revoked, "nobody's")
        try await harness.store.setUser("s3", isDisabled: false, at: harness.clock.now, by: harness.deadline)
        harness.clock.advance(by: .seconds(5))
        #expect(await harness.rejection(token) == nil)
        // A clock that is put back makes nothing younger.
        harness.clock.set(harness.clock.now.adding(seconds: -30))
        try await harness.store.setUser("s3", isDisabled: true, at: harness.clock.now, by: harness.deadline)
        #expect(await harness.rejection(token) == .revoked)
    }

    @Test("without the store's answer a token is not judged, and nothing is held against it")
    func unreachable() async throws {
        let harness = try await harness(Self.stored("s3", "cleo"))
        let (token, other) = (try token("s3", harness), try self.token("u1", harness))
        #expect(await harness.rejection(token) == nil)
        harness.failing.isDown.withLock { $0 = true }
        #expect(await harness.rejection(token) == nil, "kept for some seconds")
        harness.clock.advance(by: .seconds(5))
        #expect(await harness.rejection(token) == .providerUnreachable)
        #expect(await harness.rejection(other) == nil, "a user of the file needs no store")
        harness.failing.isDown.withLock { $0 = false }
        #expect(await harness.rejection(token) == nil)
    }

    @Test("the store is asked once for many tokens, and never for a user of the file")
    func kept() async throws {
        let harness = try await harness(Self.stored("s3", "cleo"))
        for _ in 0..<5 {
            for subject in ["s3", "u1", "nobody"] { _ = await harness.rejection(try token(subject, harness)) }
        }
        #expect(harness.failing.userReads.withLock { $0 } == 2)
    }

    @Test("a code or refresh token of a disabled user of the store is refused at once, whatever is kept")
    func refused() async throws {
        let harness = try await harness(Self.stored("s3", "cleo"))
        let (first, second) = (try await harness.code(subject: "s3"), try await harness.code(subject: "s3"))
        let answer = try await harness.redeem(first)
        #expect(answer.status == 200)
        #expect(await harness.rejection(answer.access) == nil)
        #expect(try await harness.refresh(answer.refresh).status == 200)
        try await harness.store.setUser("s3", isDisabled: true, at: harness.clock.now, by: harness.deadline)
        #expect(try await harness.refresh(answer.refresh).short == "400 invalid_grant")
        #expect(try await harness.redeem(second).short == "400 invalid_grant")
        try await harness.store.setUser("s3", isDisabled: false, at: harness.clock.now, by: harness.deadline)
        #expect(try await harness.refresh(answer.refresh).short == "400 invalid_grant", "the grant has ended")
        #expect(try await harness.redeem(try await harness.code(subject: "s3")).status == 200)
        let unknown = try await harness.code(subject: "nobody")
        #expect(try await harness.redeem(unknown).short == "400 invalid_grant")
    }
}
