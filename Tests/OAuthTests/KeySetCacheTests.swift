import Concurrency
import Crypto
import HTTP
import JSON
import OAuth
import Testing
import Time

@Suite("Key sets of issuers, kept") struct KeySetCacheTests {
    @Test(
        "a set is fresh as long as it says, within a minute and an hour",
        arguments: [
            (nil, 300), ("max-age=600", 600), ("public, max-age=120, must-revalidate", 120), ("max-age=5", 60),
            ("no-store", 60),
            ("MAX-AGE=99999", 3600), ("max-age=x", 300), ("max-age=-1", 60), ("no-cache, max-age=900", 60),
        ] as [(String?, Int64)])
    func fresh(field: String?, seconds: Int64) async throws {
        let provider = try Provider()
        let set = provider.keySet
        var fields: HTTPFields = [:]
        fields["Cache-Control"] = field
        let answered = answer(set.json, fields)
        provider.server.play { _ in answered }
        let validator = provider.validator()
        for (moment, count) in [(0, 1), (seconds - 1, 1), (seconds, 2)] {
            provider.clock.now = t0.adding(seconds: moment)
            let exp = JSONValue.integer(provider.clock.now.seconds + 60)
            #expect(await verdict(validator, try provider.token(["exp": exp])) == nil)
            #expect(provider.server.count == count, "after \(moment) s")
        }
    }

    @Test("a clock that was set back makes a set older, not younger")
    func setBack() async throws {
        let provider = try Provider()
        let validator = provider.validator()
        #expect(await verdict(validator, try provider.token()) == nil)
        provider.clock.advance(-30)
        #expect(await verdict(validator, try provider.token(["sub": "u2"])) == nil)
        #expect(provider.server.count == 2)
    }

    @Test("many who need the keys at once share one fetch", .timeLimit(.minutes(5)))
    func singleFlight() async throws {
        let provider = try Provider()
        let set = provider.keySet
        provider.server.play { _ in
            for _ in 0..<200 { await Task.yield() }
            return answer(set.json)
        }
        let validator = provider.validator()
        let tokens = try (0..<50).map { try provider.token(["sub": .string("u\($0)")]) }
        await withTaskGroup(of: TokenRejection?.self) { group in
            for token in tokens { group.addTask { await verdict(validator, token) } }
            for await rejection in group { #expect(rejection == nil) }
        }
        #expect(provider.server.count == 1)
    }

    @Test("without keys a failed fetch is tried again after a second; with old ones after 30")
    func retries() async throws {
        let provider = try Provider()
        let set = provider.keySet
        let validator = provider.validator()
        provider.server.play { _ in HTTPResponse(status: 503) }
        for _ in 0..<5 { #expect(await verdict(validator, try provider.token()) == .providerUnreachable) }
        #expect(provider.server.count == 1)
        provider.clock.advance(1)
        provider.server.play { _ in answer(set.json) }
        #expect(await verdict(validator, try provider.token()) == nil)
        #expect(provider.server.count == 2)
        provider.server.play { _ in HTTPResponse(status: 503) }
        provider.clock.advance(300)
        for number in 0..<5 {
            #expect(await verdict(validator, try provider.token(["sub": .string("v\(number)")])) == nil)
        }
        #expect(provider.server.count == 3)
        provider.clock.advance(30)
        #expect(await verdict(validator, try provider.token(["sub": "w"])) == nil)
        #expect(provider.server.count == 4)
    }

    @Test("a token that names no key provokes a fetch as one with an unknown id does")
    func nameless() async throws {
        let provider = try Provider()
        let validator = provider.validator()
        let header: JSONValue = ["alg": "ES256"]
        #expect(await verdict(validator, try provider.token(header: header)) == nil)
        let claims = String(decoding: provider.claims().encoded(), as: UTF8.self)
        let new = try Keys.otherP256.get()
        let token = Secret(try compact(header: #"{"alg":"ES256"}"#, payload: claims, key: new, .es256))
        #expect(await verdict(validator, token) == .badSignature)
        #expect(await verdict(validator, token) == .badSignature)
        #expect(provider.server.count == 2)
        provider.server.play { _ in answer(JSONWebKeySet([JSONWebKey(new.publicKey, id: "k2")]).json) }
        provider.clock.advance(31)
        #expect(await verdict(validator, token) == nil)
    }

    @Test("the sets of a limited number of addresses are kept, and the one least lately used goes first")
    func bounded() async throws {
        let provider = try Provider()
        let count = 3
        let cache = KeySetCache(capacity: count, http: provider.server, clock: provider.clock.read, monotonic: { .now })
        func judge(_ number: Int, _ subject: String) async throws -> TokenRejection? {
            let validation = TokenValidation(
                issuer: issuerName, audience: audienceName, keys: .fetched(url: "https://id\(number).example/jwks"))
            let validator = TokenValidator(
                validation, http: provider.server, clock: provider.clock.read, monotonic: { .now }, keySets: cache)
            return await verdict(validator, try provider.token(["sub": .string(subject)]))
        }
        for number in 0..<count { #expect(try await judge(number, "a") == nil) }
        for number in 0..<count { #expect(try await judge(number, "b") == nil) }
        #expect(provider.server.count == count)
        #expect(try await judge(count, "a") == nil)
        #expect(try await judge(count - 1, "c") == nil)
        #expect(provider.server.count == count + 1)
        #expect(try await judge(0, "c") == nil)
        #expect(provider.server.count == count + 2)
    }

    @Test("what was fetched, and what is wrong with its keys, is told to whoever watches")
    func events() async throws {
        let provider = try Provider()
        let set = provider.keySet.json
        let all = (set["keys"]?.array ?? []) + [["kty": "oct", "kid": "s", "k": "AAAA"]]
        provider.server.play { _ in answer(["keys": .array(all)]) }
        let validator = provider.validator()
        #expect(await verdict(validator, try provider.token()) == nil)
        let fault = "keys[1]: kty is not RSA, EC or OKP"
        #expect(provider.events.withLock { $0 } == [.keysFetched(usable: 1, faults: [fault])])
    }
}
