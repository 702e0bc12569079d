import Concurrency
import Crypto
import HTTP
import JSON
import OAuth
import Testing
import Time

@Suite("Access tokens by introspection") struct IntrospectionTests {
    private func validation(_ provider: Provider, issuer: String? = issuerName) -> TokenValidation {
        TokenValidation(issuer: issuer, audience: audienceName, keys: .none, introspection: provider.introspection)
    }

    @Test("the token goes in a form, our pair by Basic with both parts form-encoded first")
    func request() async throws {
        let provider = try Provider()
        provider.server.play { _ in answer(["active": true, "sub": "u1"]) }
        var validation = validation(provider)
        validation.introspection = TokenValidation.Introspection(
            url: introspectionURL, clientID: "a:b", clientSecret: Secret("c+d% e"))
        #expect(await verdict(provider.validator(validation), Secret("a+b/c&x=1")) == nil)
        let request = try #require(provider.server.asked.first)
        #expect(request.method == .post)
        #expect(request.url == introspectionURL)
        #expect(request.fields["Content-Type"] == "application/x-www-form-urlencoded")
        // RFC 6749 §2.3.1, as the vectors beside the checkout have it.
        #expect(request.fields["Authorization"] == "Basic YSUzQWI6YyUyQmQlMjUrZQ==")
        let body = String(decoding: request.body ?? [], as: UTF8.self)
        let form = try #require(Form(decoding: body))
        #expect(form.values("token") == ["a+b/c&x=1"])
        #expect(form["token_type_hint"] == "access_token")
    }

    @Test(
        "an answer says whom the token stands for, and may not say otherwise than we expect",
        arguments: [
            (["active": true, "sub": "u1"], nil),
            (["active": true, "sub": "u1", "iss": "https://id.example.com", "aud": ["x", "skill-api"]], nil),
            (["active": true], .malformed("no sub")), (["active": true, "sub": ""], .malformed("no sub")),
            (["active": true, "sub": "u1", "iss": "https://other.example"], .wrongIssuer),
            (["active": true, "sub": "u1", "aud": "x"], .wrongAudience),
            (["active": true, "sub": "u1", "exp": 1], .expired),
            (["active": true, "sub": "u1", "nbf": 9_999_999_999], .notYetValid),
            (["active": true, "sub": "u1", "scope": ["a", 1]], .malformed("scope lists something that is no text")),
            (["active": false, "sub": "u1"], .revoked), (["active": false], .revoked),
        ] as [(JSONValue, TokenRejection?)])
    func answers(body: JSONValue, rejection: TokenRejection?) async throws {
        let provider = try Provider()
        provider.server.play { _ in answer(body) }
        #expect(await verdict(provider.validator(validation(provider)), Secret("opaque")) == rejection)
    }

    @Test(
        "whatever else is answered is the provider's fault and never the token's",
        arguments: [
            answer(["active": true, "sub": "u1"], status: 500), answer(["error": "invalid_client"], status: 401),
            answer(["active": false], status: 403), answer(["active": "true", "sub": "u1"]), answer(["sub": "u1"]),
            answer([]),
            HTTPResponse(status: 200),
            HTTPResponse(status: 200, body: Array(#"{"active":false,"active":true,"sub":"u1"}"#.utf8)),
            HTTPResponse(status: 302, fields: ["Location": "https://evil.example"]), HTTPResponse(status: 429),
        ])
    func otherAnswers(response: HTTPResponse) async throws {
        let provider = try Provider()
        provider.server.play { _ in response }
        let validator = provider.validator(validation(provider))
        #expect(await verdict(validator, Secret("opaque")) == .providerUnreachable)
        // Nothing of that is kept.
        provider.server.play { _ in answer(["active": true, "sub": "u1"]) }
        #expect(await verdict(validator, Secret("opaque")) == nil)
        #expect(provider.server.count == 2)
    }

    @Test(
        "a provider out of reach is no reason against a token",
        arguments: [
            .unreachable("refused"), .timedOut, .tls("name"), .broken("reset"), .circuitOpen, .answerTooLarge,
        ] as [HTTPClientError])
    func unreachable(error: HTTPClientError) async throws {
        let provider = try Provider()
        provider.server.play { _ throws(HTTPClientError) in throw error }
        #expect(await verdict(provider.validator(validation(provider)), Secret("opaque")) == .providerUnreachable)
        #expect(await verdict(provider.validator(), try provider.token()) == .providerUnreachable)
        let faults = provider.events.withLock { $0 }
        #expect(faults.contains(.introspectionUnavailable("no answer")))
        #expect(faults.contains(.keysUnavailable("no answer")))
    }

    @Test("inactive is believed for 10 seconds, active for 30, and neither longer")
    func kept() async throws {
        let provider = try Provider()
        let validator = provider.validator(validation(provider))
        let token = Secret("opaque")
        provider.server.play { _ in answer(["active": false]) }
        #expect(await verdict(validator, token) == .revoked)
        provider.server.play { _ in answer(["active": true, "sub": "u1"]) }
        provider.clock.advance(9)
        #expect(await verdict(validator, token) == .revoked)
        provider.clock.advance(1)
        #expect(await verdict(validator, token) == nil)
        provider.server.play { _ in answer(["active": true, "sub": "u2"]) }
        provider.clock.advance(29)
        #expect(try await validator.principal(for: token, client: nil, scopes: [], by: soon).subject == "u1")
        provider.clock.advance(1)
        #expect(try await validator.principal(for: token, client: nil, scopes: [], by: soon).subject == "u2")
        #expect(provider.server.count == 3)
    }

    @Test("an active answer is not believed past the token's end")
    func keptEnd() async throws {
        let provider = try Provider()
        let end = t0.seconds + 10
        provider.server.play { _ in answer(["active": true, "sub": "u1", "exp": .integer(end)]) }
        let validator = provider.validator(validation(provider))
        #expect(await verdict(validator, Secret("opaque")) == nil)
        provider.clock.advance(10)
        #expect(await verdict(validator, Secret("opaque")) == nil)
        #expect(provider.server.count == 2)
        provider.clock.advance(60)
        #expect(await verdict(validator, Secret("opaque")) == .expired)
        #expect(provider.server.count == 2)
    }

    @Test("where both are set, a token has to pass both, and counts for what both say")
    func both() async throws {
        let provider = try Provider()
        var validation = provider.validation
        validation.introspection = provider.introspection
        validation.requiresExpiry = false
        let set = provider.keySet
        let introspected = Locked<JSONValue>(["active": true])
        provider.server.play { request in
            request.url == keySetURL ? answer(set.json) : answer(introspected.withLock { $0 })
        }
        for (body, scopes, rejection) in [
            (["active": true], ["read", "write"], nil),
            (["active": true, "sub": "u1", "scope": "read admin"], ["read"], nil),
            (["active": false], [], .revoked),
            (["active": true, "sub": "u2"], [], .malformed("the provider names another sub")),
            (["active": true, "client_id": "google"], [], .malformed("the provider names another client")),
        ] as [(JSONValue, Set<String>, TokenRejection?)] {
            introspected.withLock { $0 = body }
            let (validator, token) = (provider.validator(validation), try provider.token(["exp": nil]))
            #expect(await verdict(validator, token) == rejection)
            guard rejection == nil else { continue }
            #expect(try await validator.principal(for: token, client: nil, scopes: [], by: soon).scopes == scopes)
        }
        introspected.withLock { $0 = ["active": true] }
        let before = provider.server.count
        let forged = try provider.token(header: ["alg": "HS256", "kid": "k1"])
        #expect(await verdict(provider.validator(validation), forged) == .algorithm)
        #expect(await verdict(provider.validator(validation), Secret("opaque")) == .malformed("not a JWT (length 6)"))
        // What the keys refuse is not asked about: the one call is for the keys.
        #expect(provider.server.asked.dropFirst(before).allSatisfy { $0.url == keySetURL })
    }

    @Test(
        "a token with characters that no token has is not sent anywhere",
        arguments: ["a\nb", "a\u{0}", "tökén", "a\u{7F}"])
    func characters(text: String) async throws {
        let provider = try Provider()
        let rejection = await verdict(provider.validator(validation(provider)), Secret(text))
        #expect(rejection == .malformed("characters that no token has"))
        #expect(provider.server.count == 0)
    }

    @Test("many who ask about one token share one call", .timeLimit(.minutes(5)))
    func singleFlight() async throws {
        let provider = try Provider()
        provider.server.play { _ in
            for _ in 0..<200 { await Task.yield() }
            return answer(["active": true, "sub": "u1"])
        }
        let validator = provider.validator(validation(provider))
        await withTaskGroup(of: TokenRejection?.self) { group in
            for _ in 0..<50 { group.addTask { await verdict(validator, Secret("opaque")) } }
            for await rejection in group { #expect(rejection == nil) }
        }
        #expect(provider.server.count == 1)
    }

    @Test("eight calls run at once, the others wait, and past that they are turned away", .timeLimit(.minutes(5)))
    func gate() async throws {
        let provider = try Provider()
        let inside = Locked((now: 0, most: 0))
        let held = Locked<[CheckedContinuation<Void, Never>]>([])
        let isOpen = Locked(false)
        provider.server.play { _ in
            inside.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
            await withCheckedContinuation { continuation in
                let goesOn = isOpen.withLock { isOpen in
                    if !isOpen { held.withLock { $0.append(continuation) } }
                    return isOpen
                }
                if goesOn { continuation.resume() }
            }
            inside.withLock { $0.now -= 1 }
            return answer(["active": true, "sub": "u1"])
        }
        let validator = provider.validator(validation(provider))
        let counts = await withTaskGroup(of: TokenRejection?.self) { group in
            for number in 0..<100 { group.addTask { await verdict(validator, Secret("opaque-\(number)")) } }
            // 8 are inside and 64 in line, so 28 are turned away while nobody leaves.
            var (refused, accepted) = (0, 0)
            while refused < 28, let rejection = await group.next() {
                if rejection == .providerUnreachable { refused += 1 }
            }
            #expect(inside.withLock { $0.now } == 8)
            let waiting = isOpen.withLock { isOpen in
                isOpen = true
                return held.withLock { $0 }
            }
            for continuation in waiting { continuation.resume() }
            for await rejection in group { if rejection == nil { accepted += 1 } else { refused += 1 } }
            return (refused, accepted)
        }
        #expect(counts == (28, 72))
        #expect(inside.withLock { $0.most } == 8)
    }

    @Test(
        "what is forgotten while the provider is asked is not kept", .timeLimit(.minutes(5)), arguments: [true, false])
    func forgottenMeanwhile(bySubject: Bool) async throws {
        let provider = try Provider()
        let validator = provider.validator(validation(provider))
        let token = Secret("opaque")
        provider.server.play { _ in
            if bySubject { validator.forget(subject: "u1") } else { validator.forget(token: token) }
            return answer(["active": true, "sub": "u1"])
        }
        #expect(await verdict(validator, token) == nil)
        provider.server.play { _ in answer(["active": false]) }
        #expect(await verdict(validator, token) == .revoked)
    }

    @Test("forgetting one subject leaves the others, and later answers about it count again")
    func forgetting() async throws {
        let provider = try Provider()
        provider.server.play { request in
            let body = String(decoding: request.body ?? [], as: UTF8.self)
            return answer(["active": true, "sub": body.contains("token=one") ? "u1" : "u2"])
        }
        let validator = provider.validator(validation(provider))
        for token in ["one", "two"] { #expect(await verdict(validator, Secret(token)) == nil) }
        validator.forget(subject: "u1")
        for token in ["one", "two", "one"] { #expect(await verdict(validator, Secret(token)) == nil) }
        #expect(provider.server.count == 3)
        // So many that they are no longer told apart: everything is asked again.
        for number in 0..<10_001 { validator.forget(subject: "other-\(number)") }
        #expect(await verdict(validator, Secret("two")) == nil)
        #expect(provider.server.count == 4)
    }
}
