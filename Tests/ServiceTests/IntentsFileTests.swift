import JSON
import Service
import Testing

@Suite("Intents file") struct IntentsFileTests {
    static func faults(_ text: String) -> [FileFault] {
        do {
            _ = try IntentsFile(json5: Array(text.utf8))
            return []
        } catch {
            return error.faults
        }
    }

    /// A file whose only request, an intent called `I`, has these members.
    static func intent(_ members: String) -> String { "{requests:{I:{say:{en:'Hi'},\(members)}}}" }

    @Test("a file may hold everything that the format has")
    func whole() throws {
        let file = try IntentsFile(
            json5: Array(
                """
                // Comments and trailing commas are taken.
                { defaultLocale: "de-DE",
                  requests: {
                    LaunchRequest: { account: "optional", say: { de: "Hallo.", "en-US": "Hello." }, reprompt: { de: "Und?" } },
                    "AMAZON.FallbackIntent": { say: { de: "Wie bitte?" } },
                    RideIntent: {
                      account: "required", resources: { ride: "/rides/{city}?when={day}", me: "/me" },
                      permissions: ["alexa::profile:given_name:read", "alexa:devices:all:address:country_and_postal_code:read"],
                      cases: [
                        { when: { "ride.status": "none", city: null }, say: { de: "Keine Fahrt." }, card: null, reprompt: null },
                        { when: { "ride.stops.0.minutes": 4, "principal.subject": "u1", "ride.late": true }, card: { type: "LinkAccount" } },
                      ],
                      say: { de: "<speak>{ride.vehicle}, <break time='1s'/> {me.name}</speak>" },
                      card: { type: "Standard", title: { de: "Fahrt" }, text: { de: "{city}" }, image: { largeImageUrl: "https://x.example/a.png" } },
                    } } }
                """.utf8))
        #expect(file.defaultLocale == "de-DE")
        #expect(file.requestNames == ["LaunchRequest", "AMAZON.FallbackIntent", "RideIntent"])
        #expect(file.resourcePaths == ["/rides/x?when=x", "/me"])
        #expect(file.permissions.count == 2)
    }

    static let oneFault: [(String, String, String)] = [
        ("[]", "", "must be an object"),
        ("{}", "requests", "is missing"),
        ("{requests:[]}", "requests", "must be an object"),
        ("{requests:{}}", "requests", "names no request"),
        ("{defaultLocale:'english',requests:{I:{say:{en:'Hi'}}}}", "defaultLocale", "must be a locale"),
        ("{extra:1,requests:{I:{say:{en:'Hi'}}}}", "extra", "is not known here"),
        ("{requests:{SessionEndedRequest:{say:{en:'Hi'}}}}", "requests.SessionEndedRequest", "takes no spoken answer"),
        (
            "{requests:{CanFulfillIntentRequest:{say:{en:'Hi'}}}}", "requests.CanFulfillIntentRequest",
            "takes no spoken answer"
        ),
        (
            "{requests:{'AlexaSkillEvent.SkillDisabled':{say:{en:'Hi'}}}}", "requests.AlexaSkillEvent.SkillDisabled",
            "takes no spoken answer"
        ),
        ("{requests:{'my intent':{say:{en:'Hi'}}}}", "requests.my intent", "no request type and no intent name"),
        ("{requests:{I:7}}", "requests.I", "must be an object"),
        ("{requests:{I:{}}}", "requests.I.say", "is missing"),
        (intent("sya:{en:'x'}"), "requests.I.sya", "is not known here"),
        (intent("account:'maybe'"), "requests.I.account", "must be \"required\""),
        (intent("account:'ignored',resources:{me:'/me'}"), "requests.I.account", "need the account"),
        (
            "{requests:{I:{account:'ignored',say:{en:'{principal.subject}'}}}}", "requests.I.account",
            "need the account"
        ),
        ("{requests:{I:{say:'Hi'}}}", "requests.I.say", "must be an object"),
        ("{requests:{I:{say:{en:7}}}}", "requests.I.say.en", "must be a text"),
        ("{requests:{I:{say:{en:' '}}}}", "requests.I.say.en", "is empty"),
        ("{requests:{I:{say:{de:'Hallo'}}}}", "requests.I.say", "no text for the default locale en-US"),
        (
            "{defaultLocale:'de-DE',requests:{I:{say:{'de-AT':'Hallo'}}}}", "requests.I.say",
            "no text for the default locale de-DE"
        ),
        (intent("reprompt:{de:'Ja?'}"), "requests.I.reprompt", "no text for the default locale"),
        ("{requests:{I:{say:{en:'Hi',english:'Hi'}}}}", "requests.I.say.english", "is no locale"),
        ("{requests:{I:{say:{en:'Hi {'}}}}", "requests.I.say.en", "a { without its }"),
        ("{requests:{I:{say:{en:'Hi }'}}}}", "requests.I.say.en", "a } without its {"),
        ("{requests:{I:{say:{en:'Hi {a{b}}'}}}}", "requests.I.say.en", "a { without its }"),
        ("{requests:{I:{say:{en:'Hi {two words}'}}}}", "requests.I.say.en", "is not a name"),
        ("{requests:{I:{say:{en:'Hi {}'}}}}", "requests.I.say.en", "is not a name"),
        ("{requests:{I:{say:{en:'{ride.minutes}'}}}}", "requests.I.say.en", "no resource named here"),
        ("{requests:{I:{say:{en:'{principal.token}'}}}}", "requests.I.say.en", "only {principal.subject}"),
        (
            "{requests:{I:{resources:{me:'/me'},say:{en:'{me}'}}}}", "requests.I.say.en",
            "names a resource without a member"
        ),
        ("{requests:{LaunchRequest:{say:{en:'{city}'}}}}", "requests.LaunchRequest.say.en", "has no slots"),
        ("{requests:{I:{say:{en:'<speak>Hi'}}}}", "requests.I.say.en", "not well-formed SSML"),
        ("{requests:{I:{say:{en:'<speak><b>Hi</speak>'}}}}", "requests.I.say.en", "not well-formed SSML"),
        ("{requests:{I:{say:{en:'<speak>Hi</speak><p/>'}}}}", "requests.I.say.en", "not well-formed SSML"),
        (intent("resources:{'my ride':'/me'}"), "requests.I.resources.my ride", "no name for a resource"),
        (intent("resources:{principal:'/me'}"), "requests.I.resources.principal", "no name for a resource"),
        (intent("resources:{me:7}"), "requests.I.resources.me", "must be a path"),
        (intent("resources:{me:'me'}"), "requests.I.resources.me", "must begin with /"),
        (intent("resources:{me:'https://elsewhere.example/me'}"), "requests.I.resources.me", "must begin with /"),
        (intent("resources:{me:'//elsewhere.example/me'}"), "requests.I.resources.me", "has an empty segment"),
        (intent("resources:{me:'/a/../b'}"), "requests.I.resources.me", "has a segment . or .."),
        (intent("resources:{me:'/a/%2e%2E/b'}"), "requests.I.resources.me", "has a segment . or .."),
        (intent("resources:{me:'/a%2fb'}"), "requests.I.resources.me", "has an encoded slash"),
        (intent("resources:{me:'/a%zz'}"), "requests.I.resources.me", "malformed percent-encoding"),
        (intent("resources:{me:'/a b'}"), "requests.I.resources.me", "must be percent-encoded"),
        (intent("resources:{me:'/a#b'}"), "requests.I.resources.me", "must be percent-encoded"),
        (intent("resources:{me:'/a-{city}'}"), "requests.I.resources.me", "not a whole segment"),
        (intent("resources:{me:'/{city}-x'}"), "requests.I.resources.me", "not a whole segment"),
        (intent("resources:{me:'/{city}{day}'}"), "requests.I.resources.me", "not a whole segment"),
        (intent("resources:{me:'/a?{city}=1'}"), "requests.I.resources.me", "not a whole segment"),
        (intent("resources:{me:'/a?q=x{city}'}"), "requests.I.resources.me", "not a whole segment"),
        (intent("resources:{me:'/a?q={city}x'}"), "requests.I.resources.me", "not a whole segment"),
        (intent("resources:{me:'/me',ride:'/rides/{me.id}'}"), "requests.I.resources.ride", "no resource named here"),
        (intent("permissions:'alexa::profile:name:read'"), "requests.I.permissions", "must be a list"),
        (intent("permissions:[]"), "requests.I.permissions", "must be a list"),
        (intent("permissions:['profile:name']"), "requests.I.permissions[0]", "no permission scope"),
        (intent("permissions:['alexa::profile:name:read',7]"), "requests.I.permissions[1]", "no permission scope"),
        (intent("permissions:['alexa::Profile:name']"), "requests.I.permissions[0]", "no permission scope"),
        (intent("card:{type:'Fancy'}"), "requests.I.card.type", "must be \"Simple\""),
        (intent("card:{}"), "requests.I.card.type", "must be \"Simple\""),
        (intent("card:{type:'Simple',content:{en:'x'}}"), "requests.I.card.title", "is missing"),
        (
            intent("card:{type:'Simple',title:{en:'x'},content:{en:'x'},text:{en:'x'}}"), "requests.I.card.text",
            "is not known here"
        ),
        (intent("card:{type:'LinkAccount',title:{en:'x'}}"), "requests.I.card.title", "is not known here"),
        (
            intent("card:{type:'Simple',title:{en:'x'},content:{en:'<speak>x</speak>'}}"),
            "requests.I.card.content.en", "which a card cannot show"
        ),
        (
            intent("card:{type:'Standard',title:{en:'x'},text:{en:'x'},image:{smallImageUrl:'http://x.example/a'}}"),
            "requests.I.card.image.smallImageUrl", "must be an https address"
        ),
        (intent("card:{type:'AskForPermissionsConsent'}"), "requests.I.card.permissions", "must be a list"),
        (intent("cases:{}"), "requests.I.cases", "must be a list"),
        (intent("cases:[7]"), "requests.I.cases[0]", "must be an object"),
        (intent("cases:[{say:{en:'x'}}]"), "requests.I.cases[0].when", "is missing"),
        (intent("cases:[{when:{},say:{en:'x'}}]"), "requests.I.cases[0].when", "names no value"),
        (intent("cases:[{when:{a:1}}]"), "requests.I.cases[0]", "replaces nothing"),
        (intent("cases:[{when:7,say:{en:'x'}}]"), "requests.I.cases[0].when", "must be an object"),
        (intent("cases:[{when:{a:[1]},say:{en:'x'}}]"), "requests.I.cases[0].when.a", "must be compared with"),
        (
            intent("cases:[{when:{'ride.x':1},say:{en:'x'}}]"), "requests.I.cases[0].when.ride.x",
            "no resource named here"
        ),
        (
            intent("cases:[{when:{a:1},account:'ignored',say:{en:'x'}}]"), "requests.I.cases[0].account",
            "is not known here"
        ),
        (intent("cases:[{when:{a:1},say:{en:'{b.c}'}}]"), "requests.I.cases[0].say.en", "no resource named here"),
    ]

    @Test("a fault is named with its path", arguments: oneFault)
    func fault(text: String, path: String, problem: String) {
        let faults = Self.faults(text)
        #expect(faults.count == 1, "\(faults)")
        #expect(faults.first?.path == path)
        #expect(faults.first?.problem.contains(problem) == true, "\(faults)")
    }

    @Test("what is no JSON5 is one fault of the file, without a word of it")
    func noJSON() {
        let faults = Self.faults("{requests: marker")
        #expect(faults.count == 1)
        #expect(faults.first?.path == "")
        #expect(faults.first?.problem.contains("marker") == false)
    }

    @Test("every fault is found at once, in the order of the file")
    func everyFault() {
        let faults = Self.faults(
            """
            { defaultLocale: "en-US", wrong: 1,
              requests: {
                A: { account: 1, say: { de: "x" } },
                B: { resources: { me: "me" }, say: { en: "{x.y}" }, card: { type: "?" }, cases: [{ when: { "p.q": [] } }] },
              } }
            """)
        #expect(
            faults.map(\.path) == [
                "wrong", "requests.A.say", "requests.A.account", "requests.B.resources.me", "requests.B.say.en",
                "requests.B.card.type", "requests.B.cases[0].when.p.q", "requests.B.cases[0]",
            ])
    }
}
