import FoundationEssentials
import JSON
import TestSupport
import Testing

extension ReplayPrograms {
    /// What `replay` compares with, and what it writes: token states, updates, logs, reports.
    @Suite("What replay expects", .timeLimit(.minutes(5))) struct ReplayExpectationTests {
        static let whoAmI = ReplayCommandTests.samples + "/custom/who-am-i-linked"

        /// A copy of a sample in `folder`; the answer beside it only where it is asked for.
        private static func sample(in folder: String, expected: String? = nil) throws -> String {
            try FileManager.default.copyItem(atPath: whoAmI + ".json", toPath: folder + "/who.json")
            if let expected { try ReplayCommandTests.write(expected, to: folder + "/who.expected.json") }
            return folder + "/who.json"
        }

        private static func json(_ path: String) throws -> JSONValue {
            try JSONValue(parsing: Array(try Data(contentsOf: URL(filePath: path))))
        }

        private static func replay(_ words: [String], in folder: String) async throws -> ProgramRun.Outcome {
            let config = folder + "/config/development.json5"
            if !FileManager.default.fileExists(atPath: config) {
                _ = try await ReplayCommandTests.development(in: folder)
            }
            return try await ProgramRun.run(["replay", "--config", config] + words)
        }

        @Test(
            "a token that is not a linked user's is judged by NAME.expected.STATE.json, and without it by the status alone",
            arguments: ["unlinked", "expired", "revoked", "foreign"])
        func states(state: String) async throws {
            try await withTemporaryFolder { folder in
                let sample = try Self.sample(in: folder, expected: "{}")
                let words = [sample, "--token-state", state]
                let bare = try await Self.replay(words, in: folder)
                #expect(bare.code == 0)
                #expect(bare.output.contains("only the status was compared: there is no .expected.\(state).json"))

                let path = folder + "/who.expected.\(state).json"
                try ReplayCommandTests.write(#"{"version":"2.0"}"#, to: path)
                let wrong = try await Self.replay(words, in: folder)
                #expect(wrong.code == 1)
                #expect(wrong.output.contains(#"version: expected "2.0", found "1.0""#))

                #expect(try await Self.replay(words + ["--update"], in: folder).code == 0)
                #expect(try Self.json(path)["response"]?["card"]?["type"] == "LinkAccount")
                #expect(try await Self.replay(words, in: folder).code == 0)
                #expect(try Self.json(folder + "/who.expected.json") == [:], "the answer to a linked user is another's")
                // A folder's answers are no requests.
                #expect(
                    try await Self.replay([folder + "/who.expected.\(state).json"] + words.dropFirst(), in: folder).code
                        == 0)
            }
        }

        @Test("a sample without {{token}} is compared in every state of the token")
        func indifferent() async throws {
            try await withTemporaryFolder { folder in
                let sample = ReplayCommandTests.samples + "/custom/launch-unlinked.json"
                let outcome = try await Self.replay([sample, "--token-state", "expired"], in: folder)
                #expect(outcome.code == 0)
                #expect(!outcome.output.contains("only the status"))
            }
        }

        @Test(
            "--update writes what was answered, and keeps the kinds that still match and the members that were chosen")
        func update() async throws {
            try await withTemporaryFolder { folder in
                let sample = try Self.sample(
                    in: folder,
                    expected: """
                        {"response":{"shouldEndSession":"$any","outputSpeech":{"$subset":true,"text":"old"},
                        "card":{"type":"$timestamp","title":"$string","content":"old"}},"version":"$string"}
                        """)
                #expect(try await Self.replay([sample], in: folder).code == 1)
                let updated = try await Self.replay([sample, "--update"], in: folder)
                #expect(updated.code == 0)
                #expect(updated.output.contains("who.expected.json is written"))
                let text = try String(contentsOfFile: folder + "/who.expected.json", encoding: .utf8)
                let expected = try JSONValue(parsing: Array(text.utf8))
                #expect(expected["version"] == "$string")
                #expect(expected["response"]?["shouldEndSession"] == "$any")
                #expect(expected["response"]?["outputSpeech"]?["$subset"] == true)
                #expect(expected["response"]?["outputSpeech"]?["type"] == nil)
                #expect(expected["response"]?["card"]?["type"] == "Simple")
                #expect(expected["response"]?["card"]?["title"] == "$string")
                #expect(text.contains("alice@example.com"))
                let places = ["\"response\"", "\"version\""].map {
                    text.firstRange(of: $0)?.lowerBound ?? text.endIndex
                }
                #expect(places[0] < places[1], "the members stay in their order")
                let again = try await Self.replay([sample, "--update"], in: folder)
                #expect(again.code == 0 && !again.output.contains("is written"))
            }
        }

        @Test("--update makes the file that is missing, with kinds for what differs from run to run")
        func firstUpdate() async throws {
            try await withTemporaryFolder { folder in
                try FileManager.default.copyItem(
                    atPath: ReplayCommandTests.samples + "/smart-home/discover.json", toPath: folder + "/discover.json")
                let words = [folder + "/discover.json"]
                #expect(try await Self.replay(words, in: folder).output.contains("only the status was compared"))
                #expect(try await Self.replay(words + ["--update"], in: folder).code == 0)
                let header = try Self.json(folder + "/discover.expected.json")["event"]?["header"]
                #expect(header?["messageId"] == "$uuid")
                #expect(header?["name"] == "Discover.Response")
                let after = try await Self.replay(words, in: folder)
                #expect(after.code == 0 && !after.output.contains("only the status"))
            }
        }

        @Test("--update never takes another status than the expected one; a sample may expect another than 200")
        func status() async throws {
            try await withTemporaryFolder { folder in
                let body =
                    #"{"version":"1.0","request":{"type":"LaunchRequest","requestId":"r","timestamp":"2020-01-01T00:00:00Z"}}"#
                try ReplayCommandTests.write(body, to: folder + "/old.json")
                let words = [folder + "/old.json"]
                let refused = try await Self.replay(words + ["--update"], in: folder)
                #expect(refused.code == 1)
                #expect(refused.output.contains("status: expected 200, found 400"))
                #expect(!FileManager.default.fileExists(atPath: folder + "/old.expected.json"))

                for (expected, code) in [
                    (#"{"$status":400}"#, 0), (#"{"$status":400,"$body":""}"#, 0), (#"{"$status":400,"$body":"x"}"#, 1),
                    (#"{"$status":401}"#, 1), (#"{"$status":400,"a":1}"#, 1), (#"{"$status":"x"}"#, 2),
                ] as [(String, Int32)] {
                    try ReplayCommandTests.write(expected, to: folder + "/old.expected.json")
                    #expect(try await Self.replay(words, in: folder).code == code, "\(expected)")
                }
            }
        }

        @Test("a log's lines are requests, with or without their answers, and old ones are sent as new")
        func lines() async throws {
            try await withTemporaryFolder { folder in
                let request = """
                    {"version":"1.0","context":{"System":{"application":{"applicationId":"amzn1.ask.skill.other"},\
                    "user":{"userId":"U","accessToken":"long-gone"}}},"request":{"type":"IntentRequest","requestId":"r",\
                    "timestamp":"2020-01-01T00:00:00Z","locale":"en-US","intent":{"name":"WhoAmIIntent"}}}
                    """
                let steps = #"{"request":{"target":"/healthz"},"response":{"status":200}}"#
                let log = """
                    2020-01-01T00:00:00Z INFO started
                    2020-01-01T00:00:00Z INFO event \(request)
                    {"event":\(request),"response":{"$subset":true,"version":"1.0"}}

                    {"body":"\(request.replacing("\"", with: "\\\""))","response":{"version":"2.0"}}
                    \(steps)
                    """
                try ReplayCommandTests.write(log, to: folder + "/alexa.log")
                let outcome = try await Self.replay([folder + "/alexa.log", "--jsonl", "--json"], in: folder)
                let lines = try ReplayCommandTests.lines(outcome)
                #expect(lines.map { $0["ok"] } == [true, true, false, true])
                #expect(lines.map { $0["sample"]?.string?.split(separator: ":").last } == ["2", "3", "5", "6"])
                #expect(outcome.error.contains("1 line holds no request"))
                #expect(outcome.code == 1)
            }
        }

        @Test("a line that holds placeholders is a sample, and nothing in it is replaced but those")
        func sampleLines() async throws {
            try await withTemporaryFolder { folder in
                var log = ""
                for (name, state) in [("who-am-i-linked", "linked"), ("who-am-i-token-expired", "expired")] {
                    let path = ReplayCommandTests.samples + "/custom/" + name
                    let request = String(decoding: try Self.json(path + ".json").encoded(), as: UTF8.self)
                    let answer = String(decoding: try Self.json(path + ".expected.json").encoded(), as: UTF8.self)
                    try #require(request.contains("{{token:expired}}") == (state == "expired"))
                    log += #"{"request":\#(request),"response":\#(answer)}"# + "\n" + request + "\n"
                }
                try ReplayCommandTests.write(log, to: folder + "/samples.jsonl")
                let outcome = try await Self.replay([folder + "/samples.jsonl", "--jsonl", "--json"], in: folder)
                #expect(try ReplayCommandTests.lines(outcome).map { $0["ok"] } == [true, true, true, true])
                #expect(outcome.code == 0)
            }
        }

        @Test("JUnit's XML is well formed whatever a sample is called, and says what failed")
        func junit() async throws {
            try await withTemporaryFolder { folder in
                let sample = try Self.sample(in: folder, expected: #"{"version":"<2>&\u0001\""}"#)
                let other = folder + "/a<b>&\"c\"'.json"
                try FileManager.default.copyItem(atPath: sample, toPath: other)
                let path = folder + "/junit.xml"
                let outcome = try await Self.replay([sample, other, "--junit", path], in: folder)
                #expect(outcome.code == 1)
                let script = """
                    import sys, xml.etree.ElementTree as tree
                    suite = tree.parse(sys.argv[1]).getroot().find("testsuite")
                    print(suite.get("tests"), suite.get("failures"), suite.get("skipped"))
                    for case in suite: print(case.get("name").split("/")[-1], len(case.findall("failure")), float(case.get("time")) >= 0)
                    print(suite.find("testcase/failure").get("message"))
                    """
                try ReplayCommandTests.write(script, to: folder + "/read.py")
                let read = try await ProgramRun.run([folder + "/read.py", path], of: "/usr/bin/python3")
                #expect(read.code == 0, "\(read.error)")
                let lines = read.output.split(separator: "\n").map(String.init)
                #expect(lines.first == "2 1 0")
                #expect(lines.dropFirst(2).first == "a<b>&\"c\"' 0 True")
                #expect(lines.last?.contains("version: expected \"<2>&") == true)
            }
        }

        @Test("samples of linking run against a service that runs, whose Amazon replay plays, as often as one likes")
        func linking() async throws {
            try await withTemporaryFolder { folder in
                let config = try await ReplayCommandTests.development(in: folder)
                let service = try ProgramRun(["serve", "--config", config, "--port", "0"])
                let address = String(await service.line().dropFirst("listening on ".count))
                let words = [
                    "replay", ReplayCommandTests.samples + "/linking", "--config", config, "--endpoint", address,
                    "--json",
                    "--repeat", "2", "--concurrency", "4",
                ]
                let outcome = try await ProgramRun.run(words + ["--sign"])
                let lines = try ReplayCommandTests.lines(outcome)
                for line in lines where line["ok"] != true { Issue.record("\(line)") }
                #expect(lines.count >= 9)
                #expect(outcome.code == 0)
                // Nobody plays Amazon.
                let alone = try await ProgramRun.run(words)
                #expect(alone.code == 1)
                #expect(alone.output.contains("{{consent}} needs --sign"))
                service.send(signal: 15)
                #expect(await service.end().code == 0)
            }
        }

        @Test("a step that is answered otherwise is named, and --update mends its body but not its status")
        func steps() async throws {
            try await withTemporaryFolder { folder in
                let path = folder + "/status.json"
                let text = """
                    {"steps":[{"request":{"method":"GET","target":"/alexa/link","headers":{"Authorization":"Bearer {{appToken}}"}},
                    "response":{"body":{"status":"LINKED","links":[]}}},
                    {"request":{"method":"GET","target":"/alexa/link"},"response":{"status":401,"body":{"$subset":true,"code":"x"}}}]}
                    """
                try ReplayCommandTests.write(text, to: path)
                let wrong = try await Self.replay([path], in: folder)
                #expect(wrong.output.contains(#"step 1: status: expected "LINKED", found "NOT_LINKED""#))
                #expect(wrong.output.contains(#"step 2: code: expected "x", found "token.missing""#))
                #expect(try await Self.replay([path, "--update"], in: folder).code == 0)
                #expect(try await Self.replay([path], in: folder).code == 0)
                #expect(
                    try Self.json(path)["steps"]?.array?.last?["response"]?["body"] == [
                        "$subset": true, "code": "token.missing",
                    ])

                try ReplayCommandTests.write(text.replacing("401", with: "200"), to: path)
                #expect(try await Self.replay([path, "--update"], in: folder).code == 1)
                #expect(
                    try String(contentsOfFile: path, encoding: .utf8).contains("\"LINKED\""), "the file is as it was")
            }
        }

        static let badSteps: [String] = [
            #"{"steps":[]}"#, #"{"steps":[{}]}"#, #"{"steps":[{"request":{"target":"x"}}]}"#,
            #"{"steps":[{"request":{"target":"/","method":"get"}}]}"#,
            #"{"steps":[{"request":{"target":"/","from":"x"}}]}"#,
            #"{"steps":[{"request":{"target":"/"},"response":{"status":9}}]}"#,
            #"{"steps":[{"request":{"target":"/"},"response":{"stats":200}}]}"#,
            #"{"steps":[{"request":{"target":"/","headers":{"a":1}}}]}"#,
        ]

        @Test("steps that are none are refused with the file's name", arguments: badSteps)
        func malformed(text: String) async throws {
            try await withTemporaryFolder { folder in
                try ReplayCommandTests.write(text, to: folder + "/steps.json")
                let outcome = try await Self.replay([folder + "/steps.json"], in: folder)
                #expect(outcome.code == 2)
                #expect(outcome.error.contains(folder + "/steps"))
            }
        }
    }
}
