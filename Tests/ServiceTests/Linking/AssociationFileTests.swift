import FoundationEssentials
import HTTP
import JSON
import Service
import TestSupport
import Testing
import Time

@Suite("Association files", .timeLimit(.minutes(5))) struct AssociationFileTests {
    static let fingerprint = Array(repeating: "ab", count: 32).joined(separator: ":")

    static let draft: ConfigurationDraft = {
        var draft = ConfigurationDraft.production
        draft["apps"] = [
            "ios": [
                ["appID": "TEAM123456.com.example.app"],
                ["appID": "TEAM123456.com.example.beta", "paths": ["NOT /link/old/*", "/link/*", "/flip"]],
            ],
            "android": [["package": "com.example.app", "fingerprints": [.string(fingerprint)]]],
        ]
        return draft
    }()

    private func answer(_ path: String, _ draft: ConfigurationDraft) async throws -> HTTPResponse {
        let router = Router(AssociationFiles(try draft.configuration().apps).routes)
        return await router.respond(
            to: HTTPRequest(method: .get, target: path, deadline: .after(.seconds(240), from: .now)))
    }

    @Test("Apple's file has every app in the form of iOS 12 and in that of iOS 13")
    func apple() async throws {
        let answer = try await answer("/.well-known/apple-app-site-association", Self.draft)
        #expect(answer.status == 200 && answer.fields["Content-Type"] == "application/json")
        #expect(answer.fields["Cache-Control"] == "public, max-age=3600" && answer.fields["Location"] == nil)
        let expected: JSONValue = [
            "applinks": [
                "apps": [],
                "details": [
                    [
                        "appIDs": ["TEAM123456.com.example.app"], "components": [["/": "/link/alexa/*"]],
                        "appID": "TEAM123456.com.example.app", "paths": ["/link/alexa/*"],
                    ],
                    [
                        "appIDs": ["TEAM123456.com.example.beta"],
                        "components": [
                            ["/": "/link/old/*", "exclude": true], ["/": "/link/*"], ["/": "/flip"],
                        ],
                        "appID": "TEAM123456.com.example.beta", "paths": ["NOT /link/old/*", "/link/*", "/flip"],
                    ],
                ],
            ]
        ]
        #expect(try JSONValue(parsing: answer.body) == expected)
    }

    @Test("Android's file names package and certificates, the digits in capitals as its verifier wants them")
    func android() async throws {
        let answer = try await answer("/.well-known/assetlinks.json", Self.draft)
        #expect(answer.status == 200 && answer.fields["Content-Type"] == "application/json")
        let expected: JSONValue = [
            [
                "relation": ["delegate_permission/common.handle_all_urls"],
                "target": [
                    "namespace": "android_app", "package_name": "com.example.app",
                    "sha256_cert_fingerprints": [.string(Self.fingerprint.uppercased())],
                ],
            ]
        ]
        #expect(try JSONValue(parsing: answer.body) == expected)
    }

    @Test("where no app is configured, there is no file", arguments: [true, false])
    func absent(hasIOS: Bool) async throws {
        var draft = Self.draft
        draft["apps.\(hasIOS ? "android" : "ios")"] = nil
        #expect(try await answer("/.well-known/apple-app-site-association", draft).status == (hasIOS ? 200 : 404))
        #expect(try await answer("/.well-known/assetlinks.json", draft).status == (hasIOS ? 404 : 200))
        #expect(
            try await answer("/.well-known/assetlinks.json", ConfigurationDraft.production).status == 404)
    }

    @Test("the whole service answers both, over its router")
    func routed() async throws {
        let apps = try Self.draft.configuration().apps
        let running = try await ServiceTests.start { $0.apps = apps }
        for path in [AssociationFiles.applePath, AssociationFiles.androidPath] {
            #expect(await running.get(path).status == 200)
        }
        let bare = try await ServiceTests.start { ($0.apps.ios, $0.apps.android) = ([], []) }
        for path in [AssociationFiles.applePath, AssociationFiles.androidPath] {
            #expect(await bare.get(path).status == 404)
        }
    }

    @Test(
        "a redirect address on our host that opens no app is named, with its key",
        arguments: [
            (["/link/*"], true), (["*"], true), (["/link/alexa/callback"], true), (["/*/callback"], true),
            (["/link/?lexa/callback"], true), (["/x", "/link/a*k"], true), (["NOT /x/*", "*"], true),
            (["/alexa/*"], false), (["/link/alexa/callback/"], false), (["/link/alexa"], false),
            (["/link/?lexa/callbac"], false), (["/LINK/*"], false), (["NOT /link/*", "*"], false), (["/*/x"], false),
        ] as [([String], Bool)])
    func covered(paths: [String], isCovered: Bool) throws {
        var draft = ConfigurationDraft.production
        draft["apps.ios"] = [["appID": "T.app", "paths": .array(paths.map(JSONValue.string))]]
        draft["skills[0].linking.redirectURLs"] = [
            "https://skill.example.com/link/alexa/callback", "https://elsewhere.example.com/other",
        ]
        let found = try draft.configuration().redirectURLsOutsideApps
        #expect(found.map(\.key) == (isCovered ? [] : ["skills[0].linking.redirectURLs[0]"]))
        #expect(found.map(\.url) == (isCovered ? [] : ["https://skill.example.com/link/alexa/callback"]))
        draft["apps.ios"] = nil
        #expect(try draft.configuration().redirectURLsOutsideApps.isEmpty)
        // What is written nowhere fits together.
        draft["apps.ios"] = [["appID": "T.app"]]
        draft["skills[0].linking.redirectURLs"] = nil
        #expect(try draft.configuration().redirectURLsOutsideApps.isEmpty)
    }

    @Test(
        "an app that neither system would know is a fault at the start",
        arguments: [
            ("apps.ios[0].appID", "com"), ("apps.ios[0].appID", "TEAM."), ("apps.ios[0].appID", "TEAM.com example"),
            ("apps.ios[0].paths[0]", "alexa/*"), ("apps.ios[0].paths[0]", "NOT alexa"),
            ("apps.ios[0].paths[0]", "https://x/alexa"), ("apps.ios[0].paths[0]", "/a b"),
            ("apps.android[0].fingerprints[0]", "AB:CD"), ("apps.android[0].fingerprints[0]", fingerprint + ":AB"),
            ("apps.android[0].fingerprints[0]", fingerprint.replacing(":", with: "")),
            ("apps.android[0].fingerprints[0]", fingerprint.replacing("ab", with: "xy")),
        ])
    func faults(key: String, value: String) throws {
        var draft = Self.draft
        if key.contains("paths") { draft["apps.ios[0].paths"] = [] }
        draft[key] = .string(value)
        #expect(draft.faults().map(\.path) == [key])
    }
}
