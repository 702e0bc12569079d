import Alexa
import FoundationEssentials
import Glibc
import HTTP
import JSON
import Simulator
import TestSupport
import Testing

/// Tests of `replay` and `serve --record`, one after another: each runs programs that keep a core busy, and others sign in
/// meanwhile.
@Suite("Replay and record, by the program", .serialized) enum ReplayPrograms {}

extension ReplayPrograms {
    @Suite("skillgate serve --record", .timeLimit(.minutes(5))) struct RecordTests {
        static func files(in folder: String) throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        }

        static func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

        @Test("a session that is recorded is answered the same on a machine that never saw it")
        func roundTrip() async throws {
            try await withTemporaryFolder { folder in
                let config = try await ReplayCommandTests.development(in: folder)
                let record = folder + "/record"
                let service = try ProgramRun(["serve", "--config", config, "--port", "0", "--record", record])
                let address = String(await service.line().dropFirst("listening on ".count))
                let target = ["--config", config, "--endpoint", address]
                for words in [[ReplayCommandTests.samples, "--sign"], ["--certify"]] {
                    #expect(try await ProgramRun.run(["replay"] + words + target).code == 0)
                }
                service.send(signal: SIGTERM)
                let ended = await service.end()
                #expect(ended.code == 0)
                #expect(ended.error.contains("every request is recorded"))

                try await withTemporaryFolder { other in
                    // Another machine: another store, other keys, another authority, another port.
                    let config = try await ReplayCommandTests.development(in: other)
                    let outcome = try await ProgramRun.run(["replay", record, "--config", config, "--json"])
                    let lines = try ReplayCommandTests.lines(outcome)
                    for line in lines where line["ok"] != true { Issue.record("\(line)") }
                    #expect(lines.count >= 300)
                    #expect(lines.allSatisfy { $0["note"] == nil }, "every answer is compared")
                    #expect(outcome.code == 0)
                }
                let names = try Self.files(in: record)
                #expect(names.contains { $0.contains("-directive-TurnOn") && $0.hasSuffix(".expected.json") })
                #expect(names.contains { $0.contains("-POST-alexa-link") })
                for name in names {
                    let mode = try FileManager.default.attributesOfItem(atPath: "\(record)/\(name)")[.posixPermissions]
                    #expect(mode as? Int == 0o600, "\(name)")
                }
                let mode = try FileManager.default.attributesOfItem(atPath: record)[.posixPermissions]
                #expect(mode as? Int == 0o700)
            }
        }

        @Test(
            "no token, code, secret or proof that came in or went out is in a recorded file, and what the user said is")
        func secrets() async throws {
            try await withTemporaryFolder { record in
                var options = Stage.Options()
                options.provider = .embedded
                options.secretPrefix = "QQ"
                options.apps = #"clients: ["app"]"#
                options.clients = #"{ id: "app", redirectURIs: ["com.example:/x"], scopes: ["profile", "devices"] },"#
                try await Stage.with(options) { stage in
                    var secrets = [
                        "QQforwarder-secret", "QQevents-secret", "QQlinking-secret", "QQback-end-secret",
                        "QQalexa-secret", "QQapi-access", "QQconsent", "QQcorrelation", "QQgrant-code", "QQamazon-code",
                        "QQredirect-code", "QQcookie", "QQwrong-pair", "QQopaque", "QQquery-token", "QQnot-json",
                    ]
                    try await stage.run(options: ["--record", record + "/made"]) { service in
                        let alexa = try await stage.embeddedToken(of: service)
                        let app = try await stage.embeddedToken(of: service, client: "app")
                        let stranger = try await stage.embeddedToken(of: service, client: "stranger")
                        secrets += [alexa, app, stranger].flatMap {
                            [$0, String($0.split(separator: ".").last ?? "-")]
                        }
                        let launch = try stage.body("custom/who-am-i-linked", token: alexa)
                        let full = Array(
                            String(decoding: launch, as: UTF8.self).replacing("alexa-api-token", with: "QQapi-access")
                                .replacing(
                                    #""accessToken""#,
                                    with: #""permissions":{"consentToken":"QQconsent"},"accessToken""#
                                )
                                .utf8)
                        #expect(try await service.answer(to: stage.signed(full)).speech?.contains("Alice") == true)
                        let foreign = try stage.body("custom/who-am-i-linked", token: stranger)
                        #expect(try await service.answer(to: stage.signed(foreign)).status == 200)
                        let opaque = try stage.body("custom/who-am-i-linked", token: "QQopaque")
                        #expect(try await service.answer(to: stage.signed(opaque)).status == 200)
                        let signature = stage.signer
                        let fields = try signature.headers(for: full)
                        secrets.append(fields["Signature-256"] ?? "-")
                        _ = try await service.answer(
                            to: RawClient.request("/alexa/custom", fields: fields, body: launch))
                        _ = try await service.answer(
                            to: RawClient.request("/alexa/custom", fields: fields, body: Array("QQnot-json".utf8)))
                        let grant = try stage.body("smart-home/accept-grant", token: alexa, grantCode: "QQgrant-code")
                        let forwarded = stage.forwarded(grant)
                        #expect(try await service.answer(to: forwarded).status == 200)
                        let state = Array(
                            String(
                                decoding: try stage.body("smart-home/report-state-of-doorbell", token: alexa),
                                as: UTF8.self
                            )
                            .replacing(#""messageId""#, with: #""correlationToken":"QQcorrelation","messageId""#).utf8)
                        #expect(try await service.answer(to: stage.forwarded(state)).status == 200)
                        let wrong = "t=1,v1=QQwrong-proof"
                        _ = try await service.answer(
                            to: RawClient.request(
                                "/alexa/smart-home",
                                fields: [
                                    "Content-Type": "application/json", ForwarderVerifier.headerName: wrong,
                                ], body: grant))
                        secrets.append(wrong)
                        let bearer: HTTPFields = [
                            "Authorization": "Bearer " + app, "Content-Type": "application/json",
                            "Cookie": "s=QQcookie",
                        ]
                        let start = try await service.answer(
                            to: RawClient.request("/alexaurl?x=QQquery", method: "GET", fields: bearer))
                        let given = try JSONValue(parsing: start.body)
                        secrets += [
                            try #require(given["state"]?.string), try #require(given["companionAppURL"]?.string),
                        ]
                        for body in [
                            #"{"amazonAuthCode":"QQamazon-code","state":"\#(given["state"]?.string ?? "")"}"#,
                            #"{"redirect":"https://x.test/y?code=QQredirect-code&state=unknown-state"}"#,
                        ] {
                            _ = try await service.answer(
                                to: RawClient.request("/alexa/link", fields: bearer, body: Array(body.utf8)))
                        }
                        #expect(try await service.answer(to: stage.posted("{}")).status == 400)
                        _ = try await service.answer(
                            to: RawClient.request(
                                "/v1/events",
                                fields: [
                                    "Content-Type": "application/json",
                                    "Authorization": "Basic YmFjay1lbmQ6UVF3cm9uZy1wYWly",
                                ], body: Array("[]".utf8)))
                        secrets.append("YmFjay1lbmQ6UVF3cm9uZy1wYWly")
                        _ = try await service.answer(
                            to: RawClient.request("/v1/me?access_token=QQquery-token", method: "GET"))
                    }
                    let names = try Self.files(in: record + "/made")
                    let all = try names.map { try Self.text("\(record)/made/\($0)") }.joined(separator: "\n")
                    for secret in secrets { #expect(!all.contains(secret), "\(secret) is recorded") }
                    for kept in [
                        "{{token}}", "{{token:foreign}}", "{{appToken}}", "{{grantCode", "{{basic:back-end}}",
                        "no-token",
                        "WhoAmIIntent", "Alice Archer", "{{captured:state-1}}", "amzn1.ask.account.DEMOALICE",
                    ] {
                        #expect(all.contains(kept), "\(kept) is missing")
                    }
                    #expect(names.count >= 14)
                }
            }
        }

        @Test("a folder that others can read is refused, and one that is empty is closed to them; numbers go on")
        func folder() async throws {
            try await withTemporaryFolder { folder in
                let config = try await ReplayCommandTests.development(in: folder)
                let record = folder + "/record"
                try FileManager.default.createDirectory(atPath: record, withIntermediateDirectories: false)
                unsafe chmod(record, 0o755)
                for _ in 0..<2 {
                    let service = try ProgramRun(["serve", "--config", config, "--port", "0", "--record", record])
                    let address = String(await service.line().dropFirst("listening on ".count))
                    _ = try await ProgramRun.run([
                        "replay", ReplayCommandTests.samples + "/custom/launch-unlinked.json", "--config", config,
                        "--sign",
                        "--endpoint", address,
                    ])
                    service.send(signal: SIGTERM)
                    #expect(await service.end().code == 0)
                }
                #expect(
                    try Self.files(in: record) == [
                        "000001-request-LaunchRequest.expected.json", "000001-request-LaunchRequest.json",
                        "000002-request-LaunchRequest.expected.json", "000002-request-LaunchRequest.json",
                    ])
                unsafe chmod(record, 0o750)
                for path in [record, config, "/proc/none"] {
                    let refused = try await ProgramRun.run([
                        "serve", "--config", config, "--port", "0", "--record", path,
                    ])
                    #expect(refused.code == 1 && refused.output.isEmpty, "\(path)")
                    #expect(refused.error.contains("--record"))
                }
            }
        }

        @Test("every request is either written or counted as dropped, and one that is too large is dropped")
        func bounds() async throws {
            try await withTemporaryFolder { record in
                var options = Stage.Options()
                options.provider = .embedded
                options.limits = "bodyBytes: 4194304"
                let made = record + "/made"
                let sent = 1000
                try await Stage.with(options) { stage in
                    let outcome = try await stage.run(options: ["--record", made]) { service in
                        let large = [UInt8](repeating: UInt8(ascii: "x"), count: 2 << 20)
                        let fields: HTTPFields = ["Content-Type": "application/json"]
                        let refused = try await service.answer(
                            to: RawClient.request("/alexa/custom", fields: fields, body: large))
                        #expect(refused.status == 400)
                        let small = RawClient.request("/alexa/custom", fields: fields, body: Array("{}".utf8))
                        let port = service.port
                        let answered = try await onOwnThread {
                            let client = try RawClient(port: port)
                            var answered = 0
                            for _ in 0..<sent {
                                client.send(small)
                                if client.answer()?.status == 400 { answered += 1 }
                            }
                            return answered
                        }
                        #expect(answered == sent)
                    }
                    let dropped = try outcome.error.split(separator: "\n").filter { $0.contains("could be recorded") }
                        .map { try JSONValue(parsing: Array($0.utf8))["count"]?.integer ?? 0 }.reduce(0, +)
                    #expect(dropped >= 1)
                    let files = try Self.files(in: made)
                    #expect(files.count + Int(dropped) == sent + 1)
                    #expect(!files.contains { $0.contains(".new") })
                }
            }
        }

        @Test("where nothing can be written any more, requests are answered as ever, and the log says so once")
        func lostFolder() async throws {
            try await withTemporaryFolder { folder in
                let config = try await ReplayCommandTests.development(in: folder)
                let record = folder + "/record"
                let service = try ProgramRun(["serve", "--config", config, "--port", "0", "--record", record])
                let address = String(await service.line().dropFirst("listening on ".count))
                try FileManager.default.removeItem(atPath: record)
                let outcome = try await ProgramRun.run([
                    "replay", ReplayCommandTests.samples + "/custom", "--config", config, "--sign", "--endpoint",
                    address,
                ])
                #expect(outcome.code == 0)
                service.send(signal: SIGTERM)
                let ended = await service.end()
                #expect(ended.code == 0)
                #expect(
                    ended.error.split(separator: "\n").filter { $0.contains("a request cannot be recorded") }.count == 1
                )
            }
        }
    }
}
