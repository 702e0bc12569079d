import Alexa
import Concurrency
import HTTP
import JSON
import Service
import TestSupport
import Testing
import Time

/// What the intents file and the service itself say.
@Suite("Custom skills: answers") struct SkillAnswerTests {
    static let rides = """
        { requests: {
            RideStatusIntent: {
              resources: { ride: "/rides/{city}?when={day}" },
              cases: [
                { when: { city: null }, say: { en: "Which city?" }, reprompt: { en: "The city, please." } },
                { when: { "ride.status": "none", "ride.seats": 4 }, say: { en: "No ride." }, card: null },
                { when: { "ride.status": "none" }, say: { en: "No small ride." } },
                { when: { "ride.stops.1.late": true }, say: { en: "Late at {ride.stops.1.name}." } },
              ],
              say: { en: "{ride.vehicle} in {ride.minutes} minutes for {ride.price}.", de: "<speak>{ride.vehicle} in {city}</speak>" },
              card: { type: "Simple", title: { en: "Ride" }, content: { en: "{ride.vehicle} <{city}>" } } } } }
        """

    static func harness(_ intents: String, _ body: String = "{}", fields: HTTPFields = [:]) throws -> SkillHarness {
        try SkillHarness(
            intents: intents, provider: .init(resource: { _, _ in .json(body, fields: fields) }))
    }

    @Test("an answer holds slots, members of resources and numbers as they are spoken")
    func values() async throws {
        let harness = try Self.harness(Self.rides, #"{"vehicle":"A & B","minutes":3,"price":4.5}"#)
        let answer = try await harness.answer(
            intent: "RideStatusIntent", slots: [("city", "Köln"), ("day", "x")], token: harness.token())
        #expect(answer.speech == "A & B in 3 minutes for 4.5.")
        #expect(answer["response"]?["card"] == ["type": "Simple", "title": "Ride", "content": "A & B <Köln>"])
        #expect(answer.endsSession == true)
        let german = try await harness.answer(
            intent: "RideStatusIntent", slots: [("city", "Tom's <Ort>"), ("day", "x")], token: harness.token(),
            locale: "de-AT")
        #expect(german.speech == "<speak>A &amp; B in Tom&apos;s &lt;Ort&gt;</speak>")
    }

    @Test(
        "a slot is one encoded segment or query value of the address",
        arguments: [
            ("New York", "a&b=c", "/rides/New%20York?when=a%26b%3Dc"), ("a/b", "x#y", "/rides/a%2Fb?when=x%23y"),
            ("../../me", "..", "/rides/..%2F..%2Fme?when=.."), ("%2e%2e", "?", "/rides/%252e%252e?when=%3F"),
            ("...", "1", "/rides/...?when=1"), ("Köln", "å", "/rides/K%C3%B6ln?when=%C3%A5"),
        ])
    func encodedSlot(city: String, day: String, target: String) async throws {
        let harness = try Self.harness(Self.rides, #"{"status":"none"}"#)
        _ = try await harness.answer(
            intent: "RideStatusIntent", slots: [("city", city), ("day", day)], token: harness.token())
        #expect(harness.http.requests.last?.url == SkillHarness.resourcesURL + target)
    }

    @Test("a segment that would leave the folder is never fetched", arguments: [".", ".."])
    func dotSegment(city: String) async throws {
        let harness = try Self.harness(Self.rides)
        let answer = try await harness.answer(
            intent: "RideStatusIntent", slots: [("city", city), ("day", "x")], token: harness.token())
        #expect(!harness.http.requests.contains { $0.url.hasPrefix(SkillHarness.resourcesURL) })
        #expect(answer.endsSession == false)
    }

    @Test(
        "the first case whose conditions hold replaces what it names",
        arguments: [
            (#"{"status":"none","seats":4.0}"#, "No ride.", false),
            (#"{"status":"none","seats":5}"#, "No small ride.", true),
            (#"{"status":"none","seats":"4"}"#, "No small ride.", true),
            (#"{"status":"NONE","stops":[{},{"late":true,"name":"Ost"}]}"#, "Late at Ost.", true),
        ])
    func cases(body: String, speech: String, hasCard: Bool) async throws {
        let harness = try Self.harness(Self.rides, String(body.dropLast()) + #","vehicle":"Bus"}"#)
        let answer = try await harness.answer(
            intent: "RideStatusIntent", slots: [("city", "x"), ("day", "y")], token: harness.token())
        #expect(answer.speech == speech)
        #expect((answer.cardType != nil) == hasCard)
    }

    @Test("a slot that is not filled can be asked for by a case, and nothing is fetched without it")
    func missingSlot() async throws {
        let harness = try Self.harness(Self.rides)
        let answer = try await harness.answer(intent: "RideStatusIntent", slots: [("day", "x")], token: harness.token())
        #expect(answer.speech == "Which city?")
        #expect(answer["response"]?["reprompt"]?["outputSpeech"]?["text"] == "The city, please.")
        #expect(answer.endsSession == false)
        #expect(!harness.http.requests.contains { $0.url.hasPrefix(SkillHarness.resourcesURL) })
    }

    @Test("a card whose values are missing is left out, and what can be said is said")
    func missingCardValue() async throws {
        let harness = try Self.harness(Self.rides, #"{"status":"none"}"#)
        let answer = try await harness.answer(
            intent: "RideStatusIntent", slots: [("city", "x"), ("day", "y")], token: harness.token())
        #expect(answer.speech == "No small ride.")
        #expect(answer.cardType == nil)
    }

    @Test(
        "a value that is missing or cannot be spoken is apologized for, and the log names it",
        arguments: [#"{}"#, #"{"vehicle":null}"#, #"{"vehicle":{"name":"x"}}"#, #"{"vehicle":["x"]}"#, "[]", "7"])
    func missingValue(body: String) async throws {
        let harness = try Self.harness(Self.rides, body)
        let answer = try await harness.answer(
            intent: "RideStatusIntent", slots: [("city", "x"), ("day", "y")], token: harness.token())
        #expect(answer.speech?.hasPrefix("Sorry") == true)
        #expect(harness.logText.contains("skill.valueMissing"))
        #expect(harness.logText.contains("ride.vehicle"))
    }

    @Test("SHR-9: letters of every kind leave as UTF-8, and what came in ISO-8859-1 among them")
    func letters() async throws {
        let harness = try SkillHarness(
            intents: "{requests:{I:{resources:{me:'/me'},say:{en:'Grüße aus {me.place} 🍺 – “fertig”'}}}}",
            provider: .init(resource: { _, _ in
                HTTPResponse(
                    status: 200, fields: ["Content-Type": "application/json; charset=ISO-8859-1"],
                    body: Array(#"{"place":"K"#.utf8) + [0xF6] + Array(#"ln"}"#.utf8))
            }))
        let response = try await harness.respond(Array(SkillHarness.intent("I", token: harness.token()).utf8))
        #expect(response.fields.values("Content-Type") == ["application/json;charset=UTF-8"])
        let golden =
            #"{"version":"1.0","response":{"outputSpeech":{"type":"PlainText","text":""#
            + "Grüße aus Köln 🍺 – “fertig”" + #""},"shouldEndSession":true}}"#
        #expect(response.body == Array(golden.utf8))
    }

    @Test(
        "a text falls back from locale to main country, language and default",
        arguments: [
            ("de-AT", "DE"), ("de-DE", "DE"), ("de", "german"), ("en-GB", "GB"), ("en-AU", "US"), ("fr-CA", "fr"),
            ("ja-JP", "US"), ("pt-BR", "BR"), ("pt-PT", "BR"), (nil, "US"), ("nonsense", "US"),
        ] as [(String?, String)])
    func fallback(locale: String?, text: String) async throws {
        let harness = try SkillHarness(
            intents: """
                { defaultLocale: "en-US", requests: { I: {
                    say: { "en-US": "US", "en-GB": "GB", "de-DE": "DE", de: "german", fr: "fr", "pt-BR": "BR" } } } }
                """)
        #expect(try await harness.answer(intent: "I", locale: locale).speech == text)
    }

    @Test("permissions that were not granted are asked for by a card, in the words of the language")
    func permissions() async throws {
        let scope = "alexa::profile:given_name:read"
        let harness = try SkillHarness(intents: "{requests:{I:{permissions:['\(scope)'],say:{en:'Thanks.'}}}}")
        let request = SkillHarness.intent("I", locale: "de-DE")
        let answer = try await harness.answer(request)
        #expect(answer["response"]?["card"] == ["type": "AskForPermissionsConsent", "permissions": [.string(scope)]])
        #expect(answer.speech?.contains("Erlaubnis") == true)
        for (status, isGranted) in [("GRANTED", true), ("DENIED", false), ("granted", false)] {
            let user =
                #""userId":"amzn1.ask.account.u1","permissions":{"scopes":{"\#(scope)":{"status":"\#(status)"}}}"#
            let body = request.replacing(#""userId":"amzn1.ask.account.u1""#, with: user)
            #expect((try await harness.answer(body).speech == "Thanks.") == isGranted)
        }
    }

    @Test(
        "built-in intents are answered as a user expects, and the file's own come first",
        arguments: [
            ("AMAZON.HelpIntent", "Just tell me", false), ("AMAZON.StopIntent", "Goodbye.", true),
            ("AMAZON.CancelIntent", "Goodbye.", true), ("AMAZON.FallbackIntent", "Just tell me", false),
            ("AMAZON.NavigateHomeIntent", nil, true), ("NobodyKnowsIntent", "Just tell me", false),
        ] as [(String, String?, Bool)])
    func builtIns(name: String, speech: String?, ends: Bool) async throws {
        let harness = try SkillHarness()
        let answer = try await harness.answer(intent: name)
        #expect(answer.speech?.hasPrefix(speech ?? "nothing") == (speech == nil ? nil : true))
        #expect(answer.endsSession == ends)
        #expect((answer["response"]?["reprompt"] != nil) == !ends)
        let own = try SkillHarness(intents: "{requests:{'\(name)':{say:{en:'Mine.'}}}}")
        #expect(try await own.answer(intent: name).speech == "Mine.")
        let fallback = try SkillHarness(intents: "{requests:{'AMAZON.FallbackIntent':{say:{en:'Else.'}}}}")
        #expect(
            (try await fallback.answer(intent: name).speech == "Else.")
                == ["AMAZON.FallbackIntent", "NobodyKnowsIntent"].contains(name))
    }

    @Test("a launch that the file does not name helps the user on")
    func launch() async throws {
        let harness = try SkillHarness(intents: "{requests:{I:{say:{en:'x'}}}}")
        let answer = try await harness.answer(SkillHarness.envelope(#""type":"LaunchRequest""#))
        #expect(answer.speech?.hasPrefix("Just tell me") == true)
        #expect(answer.endsSession == false)
    }

    @Test("the company's words come before ours, in its languages")
    func companyTexts() async throws {
        let texts = ServiceTexts(company: [
            .goodbye: LocalizedText(["en-US": "See you.", "it": "Ciao."]),
            .help: LocalizedText(["en": "<speak>Say <emphasis>ride</emphasis>.</speak>"]),
        ])
        let harness = try SkillHarness(texts: texts)
        for (locale, words) in [
            ("en-US", "See you."), ("en-GB", "See you."), ("it-IT", "Ciao."), ("de-DE", "Tschüss."),
            ("fr-FR", "See you."),
        ] {
            #expect(try await harness.answer(intent: "AMAZON.StopIntent", locale: locale).speech == words)
        }
        let help = try await harness.answer(intent: "AMAZON.HelpIntent")
        #expect(help["response"]?["outputSpeech"]?["type"] == "SSML")
    }

    @Test(
        "whether an intent could be fulfilled is said without fetching or running anything",
        arguments: [
            ("Price", [("city", "Ulm")], nil, "YES"), ("Price", [], nil, "MAYBE"),
            ("Price", [("city", "Ulm"), ("color", "red")], nil, "MAYBE"), ("Book", [("city", "Ulm")], nil, "MAYBE"),
            ("Book", [("city", "Ulm")], "token", "YES"), ("Swift", [("city", "Ulm")], "token", "MAYBE"),
            ("Nobody", [("city", "Ulm")], "token", "NO"), ("AMAZON.HelpIntent", [], nil, "YES"),
        ] as [(String, [(String, String)], String?, String)])
    func canFulfill(name: String, slots: [(String, String)], token: String?, expected: String) async throws {
        let ran = Locked(false)
        let handler = ClosureHandler { _ in
            ran.withLock { $0 = true }
            return .empty
        }
        let harness = try SkillHarness(
            intents: """
                {requests:{Price:{say:{en:'{city}'}},Book:{resources:{me:'/me?c={city}'},say:{en:'{me.x}'}}}}
                """, handlers: ["Swift": handler])
        let request = SkillHarness.intent(name, slots: slots, token: token)
            .replacing(#""type":"IntentRequest""#, with: #""type":"CanFulfillIntentRequest""#)
        let response = try await harness.answer(request)
        #expect(response["response"]?["canFulfillIntent"]?["canFulfill"]?.string == expected)
        #expect(response["response"]?.object?.names == ["canFulfillIntent"])
        #expect(response["sessionAttributes"] == nil)
        #expect(!ran.withLock { $0 })
        #expect(harness.http.requests.allSatisfy { $0.url == TestSigner.usualURL })
    }
}

/// A handler made of a closure.
struct ClosureHandler: SkillHandler {
    var account = AccountRule.optional
    let body: @Sendable (SkillCall) async throws -> SkillResponse

    init(account: AccountRule = .optional, _ body: @escaping @Sendable (SkillCall) async throws -> SkillResponse) {
        self.account = account
        self.body = body
    }

    func respond(to call: SkillCall) async throws -> SkillResponse { try await body(call) }
}
