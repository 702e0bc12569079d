import Alexa
import Crypto
import HTTP
import JSON
import LinkMessages
import OAuth
import Service
import Simulator
import Testing
import TestSupport
import Time

/// `GET /alexaurl`.
@Suite("Beginning a link", .timeLimit(.minutes(5))) struct LinkStartTests {
    private func query(_ url: String?) throws -> [String: String] {
        let url = try #require(url)
        let form = try #require(Form(decoding: url.drop { $0 != "?" }.dropFirst()))
        return Dictionary(form.items.map { ($0.name, $0.value) }) { first, _ in first }
    }

    @Test(
        "apps of both systems find both addresses, with a state that the server made and the stage's own name in each")
    func addresses() async throws {
        let harness = try await LinkHarness()
        let answer = try await harness.call(.get, "/alexaurl")
        #expect(answer.status == 200 && answer.response.fields["Cache-Control"] == "no-store")
        let app = answer.json["companionAppURL"]?.string
        let amazon = answer.json["LWAFallBackURL"]?.string
        #expect(answer.json["alexaAppUrl"]?.string == app && answer.json["lwaFallBackUrl"]?.string == amazon)
        #expect(app?.hasPrefix("https://alexa.amazon.com/spa/skill-account-linking-consent?") == true)
        #expect(amazon?.hasPrefix("https://www.amazon.com/ap/oa?") == true)
        let state = try #require(answer.json["state"]?.string)
        #expect(LinkState.isAllowed(state) && LinkState.parts(of: state) != nil)
        var expected = [
            "client_id": "amzn1.application-oa2-client.linking", "scope": "alexa::skills:account_linking",
            "response_type": "code", "redirect_uri": LinkHarness.redirectURL, "state": state,
            "code_challenge_method": "S256",
        ]
        expected["code_challenge"] = try query(amazon)["code_challenge"]
        #expect(expected["code_challenge"]?.utf8.count == 43)
        #expect(try query(amazon) == expected)
        expected["fragment"] = "skill-account-linking-consent"
        expected["skill_stage"] = "development"
        #expect(try query(app) == expected)
    }

    @Test("without pkce there is no challenge, and each attempt has a state and a challenge of its own")
    func challenge() async throws {
        let plain = try await LinkHarness { $0.skills[0].linking?.usesPKCE = false }
        let url = try await plain.call(.get, "/alexaurl").json["alexaAppUrl"]?.string
        #expect(url?.contains("code_challenge") == false)
        let harness = try await LinkHarness()
        let first = try await harness.call(.get, "/alexaurl").json
        let second = try await harness.call(.get, "/alexaurl").json
        #expect(first["state"] != second["state"])
        #expect(
            try query(first["alexaAppUrl"]?.string)["code_challenge"]
                != query(second["alexaAppUrl"]?.string)["code_challenge"])
    }

    @Test("a state of the app's is taken as it stands, once")
    func ownState() async throws {
        let harness = try await LinkHarness()
        let state = LinkState.make(prefix: "iOS", at: 1_700_000_000, random: [UInt8](repeating: 9, count: 30))
        let answer = try await harness.call(.get, "/alexaurl?state=" + state)
        #expect(answer.status == 200 && answer.json["state"]?.string == state)
        #expect(try query(answer.json["alexaAppUrl"]?.string)["state"] == state)
        for token in [try harness.token(), try harness.token("u1002")] {
            let again = try await harness.call(.get, "/alexaurl?state=" + state, token: token)
            #expect(again.status == 400 && again.code == "link.stateReused")
        }
        // An empty one is as good as none.
        #expect(try await harness.state(query: "?state=") != "")
    }

    @Test(
        "a state that Alexa does not carry is refused",
        arguments: [
            "abcdefg", String(repeating: "a", count: 256), "abcdefg%26h", "abcdefg%23h", "abcdefg%7Ch", "abcdefg%20h",
            "abcdefg%22h", "abcdefg%27h", "abcdefg%5Ch", "abcdefg%3Ch", "abcdefg%C3%A9",
        ])
    func badState(state: String) async throws {
        let harness = try await LinkHarness()
        let answer = try await harness.call(.get, "/alexaurl?state=" + state)
        #expect(answer.status == 400 && answer.code == "link.stateMalformed")
        #expect(answer.json["userMessage"]?.string != nil && answer.json["retry"]?.string == "now")
    }

    @Test(
        "a wish that cannot be met is refused, with what to mend",
        arguments: [
            ("?redirect=https%3A%2F%2Fevil.example%2Fx", 400, "link.redirectNotAllowed"),
            ("?redirect=http%3A%2F%2F127.0.0.1%3A8080%2Flink%2Falexa%2Fcallback%2F", 400, "link.redirectNotAllowed"),
            ("?skill=other", 404, "link.noSuchSkill"), ("?state=aaaaaaaa&state=bbbbbbbb", 400, "link.requestMalformed"),
            ("?state=%FF", 400, "link.requestMalformed"),
        ])
    func refused(query: String, status: Int, code: String) async throws {
        let answer = try await LinkHarness().call(.get, "/alexaurl" + query)
        #expect(answer.status == status && answer.code == code)
    }

    @Test("with several skills the app names one")
    func severalSkills() async throws {
        let harness = try await LinkHarness { configuration in
            var second = configuration.skills[0]
            second.name = "second"
            second.id = "amzn1.ask.skill.second"
            second.linking?.clientID = "second-client"
            configuration.skills.append(second)
        }
        #expect(try await harness.call(.get, "/alexaurl").code == "link.skillNeeded")
        let answer = try await harness.call(.get, "/alexaurl?skill=second")
        #expect(try query(answer.json["alexaAppUrl"]?.string)["client_id"] == "second-client")
    }

    @Test("the app proves its user: no token, Alexa's token, a back end's and an expired one are refused")
    func tokens() async throws {
        let harness = try await LinkHarness()
        let noToken = await harness.running.get("/alexaurl")
        #expect(noToken.status == 401)
        let alexa = try await harness.call(.get, "/alexaurl", token: harness.token(client: "alexa"))
        #expect(alexa.status == 401 && alexa.code == "token.wrongClient")
        let expired = try await harness.call(.get, "/alexaurl", token: harness.running.token(.expired))
        #expect(expired.status == 401)
        for method in [HTTPMethod.post, .delete] {
            #expect(try await harness.call(method, "/alexaurl").status == 405)
        }
    }
}
