import Concurrency
import Crypto
import JSON
import OAuth
import Testing
import Time

/// Signing keys in memory, as a store would hold them.
private final class KeyStore: SigningKeyStore {
    private let records = Locked<[SigningKeyRecord]>([])

    func signingKeys() async throws -> [SigningKeyRecord] { records.withLock { $0 } }

    func insertFirstSigningKey(_ key: SigningKeyRecord) async throws -> [SigningKeyRecord] {
        records.withLock { records in
            if records.isEmpty { records.append(key) }
            return records
        }
    }

    func addSigningKey(_ key: SigningKeyRecord, othersUntil: UnixTime) async throws {
        records.withLock { records in
            for index in records.indices {
                records[index].publishedUntil = min(records[index].publishedUntil ?? othersUntil, othersUntil)
            }
            records.append(key)
        }
    }

    func removeSigningKeys(endedBefore moment: UnixTime) async throws {
        records.withLock { records in records.removeAll { $0.publishedUntil.map { $0 < moment } ?? false } }
    }
}

@Suite("The embedded provider's keys and tokens") struct SigningTests {
    @Test(
        "J1, J2: a token is at+jwt, names its key, and has every claim of RFC 9068",
        arguments: [SignatureAlgorithm.es256, .rs256])
    func minted(algorithm: SignatureAlgorithm) async throws {
        let key = SigningKey(try Keys.key(for: algorithm), algorithm: algorithm)
        let minter = AccessTokenMinter(issuer: issuerName, audience: audienceName, key: key)
        let claims = AccessTokenMinter.Claims(subject: "u1", clientID: "alexa", scopes: ["b", "a"], grantID: "g1")
        let token = try minter.token(claims, lifetimeSeconds: 3600, now: t0)
        let part = try #require(token.exposed.split(separator: ".").first)
        let header = try JSONValue(parsing: try #require(Base64URL.decode(part)))
        #expect(header == ["alg": .string(algorithm.rawValue), "typ": "at+jwt", "kid": .string(key.id)])

        var validation = TokenValidation(
            issuer: issuerName, audience: audienceName, keys: .fixed(JSONWebKeySet([key.publicKey])))
        validation.strictType = true
        let validator = TokenValidator(validation, http: StubServer(), clock: { t0 }, monotonic: { .now })
        let found = try validator.principalWithoutWaiting(for: token, clients: .oneOf(["alexa"]), scopes: ["a", "b"])
        let principal = try #require(found)
        #expect(principal.grantID == "g1")
        #expect(principal.expiresAt == t0.adding(seconds: 3600))
        let names = Set(principal.claims.object?.names ?? [])
        #expect(names == ["iss", "exp", "aud", "sub", "client_id", "iat", "jti", "scope", "grant_id"])
        let other = try minter.token(claims, lifetimeSeconds: 3600, now: t0)
        let again = try validator.principalWithoutWaiting(for: other, clients: .any, scopes: [])
        #expect(again?.claims["jti"] != principal.claims["jti"])
    }

    @Test("a token without scopes has no scope claim, and one without a grant no grant")
    func sparse() throws {
        let key = SigningKey(try Keys.p256.get(), algorithm: .es256)
        let minter = AccessTokenMinter(issuer: issuerName, audience: audienceName, key: key)
        let token = try minter.token(.init(subject: "u1", clientID: "app", scopes: []), lifetimeSeconds: 60, now: t0)
        let claims = try JSONValue(parsing: JSONWebSignature(compact: token.exposed).payload)
        #expect(claims["scope"] == nil)
        #expect(claims["grant_id"] == nil)
    }

    @Test("processes that start together end up with one key, and accept each other's tokens")
    func firstKey() async throws {
        let store = KeyStore()
        let all = (0..<4).map { _ in SigningKeys(store: store, tokenSeconds: 3600, clock: { t0 }) }
        #expect(throws: SigningKeyError.none) { try all[0].current() }
        try await withThrowingTaskGroup { group in
            for keys in all { group.addTask { try await keys.load() } }
            try await group.waitForAll()
        }
        #expect(Set(try all.map { try $0.current().id }).count == 1)
        #expect(try await store.signingKeys().count == 1)
        #expect(try all[0].current().algorithm == .es256)
        let rsa = SigningKeys(store: KeyStore(), algorithm: .rs256, tokenSeconds: 3600, clock: { t0 })
        try await rsa.load()
        #expect(try rsa.current().algorithm == .rs256)
    }

    @Test(
        "K2: a new key is published at once, signs when every verifier has it, and the old one outlives its last token")
    func rotation() async throws {
        let (store, clock) = (KeyStore(), TestClock())
        let keys = SigningKeys(store: store, tokenSeconds: 3600, clock: clock.read)
        try await keys.load()
        let old = try keys.current().id
        try await keys.rotate()
        #expect(keys.published.keys.count == 2)
        #expect(try keys.current().id == old)
        clock.advance(309)
        #expect(try keys.current().id == old)
        clock.advance(1)
        let new = try keys.current().id
        #expect(new != old)
        clock.advance(3659)
        #expect(keys.published.keys.count == 2)
        clock.advance(1)
        #expect(keys.published.keys.map(\.id) == [new])
        #expect(try keys.current().id == new)
        clock.advance(1)
        try await keys.rotate()
        #expect(try await store.signingKeys().map(\.id).contains(old) == false)
    }

    @Test("a stored key that cannot be read is told by its id, and nothing signs with half of the keys")
    func unreadable() async throws {
        let store = KeyStore()
        for (algorithm, pem) in [("ES256", [UInt8]("no key".utf8)), ("HS256", try Keys.p256.get().pem)] {
            let record = SigningKeyRecord(
                id: "k", algorithm: algorithm, privateKeyPEM: pem, createdAt: t0, signsFrom: t0)
            try await store.addSigningKey(record, othersUntil: t0)
            let keys = SigningKeys(store: store, tokenSeconds: 60, clock: { t0 })
            await #expect(throws: SigningKeyError.unreadable(id: "k")) { try await keys.load() }
            #expect(throws: SigningKeyError.none) { try keys.current() }
            #expect(keys.published.keys.isEmpty)
        }
    }

    @Test("a stored key prints without itself")
    func redacted() throws {
        let pem = try Keys.p256.get().pem
        let record = SigningKeyRecord(id: "k", algorithm: "ES256", privateKeyPEM: pem, createdAt: t0, signsFrom: t0)
        var dumped = ""
        dump(record, to: &dumped)
        for text in ["\(record)", String(reflecting: record), dumped] {
            #expect(!text.contains("PRIVATE"))
            #expect(!text.contains("\(pem[30]), \(pem[31])"))
        }
    }
}
