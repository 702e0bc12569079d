import FoundationEssentials
import Glibc
import JSON
import Storage
import Testing

@Suite("Users, by the program", .timeLimit(.minutes(5))) struct UserCommandTests {
    static let embedded: Stage.Options = {
        var options = Stage.Options()
        options.provider = .embedded
        return options
    }()

    /// Runs a command about users with the stage's configuration.
    @discardableResult static func users(
        _ words: [String], _ stage: Stage, input: String = ""
    ) async throws -> ProgramRun.Outcome {
        try await ProgramRun.run(["users"] + words + ["--config", stage.configurationPath], input: input)
    }

    @Test("a user who was added signs in; disabled, everything of theirs is refused; enabled, they begin anew")
    func disabled() async throws {
        try await Stage.with(Self.embedded) { stage in
            let added = try await Self.users(
                ["add", "carol", "--email", "carol@example.com", "--json"], stage, input: "carol's pässword\n")
            #expect(added.code == 0 && added.error.isEmpty)
            let subject = try #require(JSONValue(parsing: Array(added.output.utf8))["sub"]?.string)
            #expect(subject.count == 36)
            try await stage.run { service in
                var browser = FormBrowser(service)
                let tokens = try await browser.link("carol", "carol's pässword")
                let me = try await JSONValue(parsing: tokens.me().body)
                #expect(me["sub"]?.string == subject && me["name"] == "carol" && me["email"] == "carol@example.com")
                var alice = FormBrowser(service)
                let others = try await alice.link("alice", "alice-password")
                #expect(try await browser.isSignedIn())
                let disabled = try await Self.users(["disable", "carol"], stage)
                #expect(disabled.code == 0 && disabled.output.contains("carol is disabled"))
                let refused = try await tokens.untilRefused()
                #expect(refused.status == 401 && refused.text.contains("token.revoked"))
                #expect(try await tokens.refreshed() == "400 invalid_grant")
                #expect(try await !browser.isSignedIn())
                let locked = try await browser.signIn("carol", "carol's pässword")
                #expect(locked.status == 403 && locked.text.contains("This account is locked") && locked.isSignIn)
                let wrong = try await browser.signIn("carol", "another")
                #expect(wrong.status == 400 && !wrong.text.contains("locked"))
                #expect(try await others.me().status == 200)
                #expect(try await alice.isSignedIn())
                #expect(try await others.refreshed() == "200")
                #expect(try await Self.users(["enable", "carol"], stage).code == 0)
                #expect(try await tokens.refreshed() == "400 invalid_grant", "what ended stays ended")
                let again = try await browser.link("carol", "carol's pässword")
                #expect(try await again.me().status == 200)
                #expect(try await again.refreshed() == "200")
                #expect(try await tokens.me().status == 401)
            }
        }
    }

    @Test("another password ends grants and sessions, and is the only one from then on")
    func password() async throws {
        try await Stage.with(Self.embedded) { stage in
            try await Self.users(["add", "carol", "--sub", "u-carol"], stage, input: "first\r\n")
            try await stage.run { service in
                var browser = FormBrowser(service)
                let tokens = try await browser.link("carol", "first")
                #expect(try await tokens.me().status == 200)
                #expect(try await browser.isSignedIn())
                let changed = try await Self.users(["password", "carol", "--json"], stage, input: "second")
                #expect(changed.code == 0)
                #expect(changed.output == #"{"ok":true,"username":"carol","sub":"u-carol"}"# + "\n")
                #expect(try await !browser.isSignedIn())
                #expect(try await tokens.untilRefused().status == 401)
                #expect(try await tokens.refreshed() == "400 invalid_grant")
                for wrong in ["first", "Second", ""] {
                    #expect(try await browser.signIn("carol", wrong).status == 400)
                }
                #expect(try await browser.link("carol", "second").me().status == 200)
            }
        }
    }

    @Test("the list shows the file's users and the store's, and no password or hash")
    func list() async throws {
        try await Stage.with(Self.embedded) { stage in
            for name in ["zoe", "carol"] {
                let run = try await Self.users(
                    ["add", name, "--sub", "s-\(name)", "--name", "N \(name)", "--locale", "de-AT"], stage,
                    input: "PASSWORDMARKER\n")
                #expect(run.code == 0 && run.output == "\(name) is added with the sub s-\(name)\n" && run.error.isEmpty)
            }
            try await Self.users(["disable", "zoe"], stage)
            let text = try await Self.users(["list"], stage)
            #expect(text.code == 0 && text.error.isEmpty)
            #expect(
                text.output.split(separator: "\n") == [
                    "alice\tu1001\tAlice Archer\talice@example.com\tfile",
                    "bob\tu1002\tBob Bäcker\tbob@example.com\tfile", "carol\ts-carol\tN carol\t-\tstore",
                    "zoe\ts-zoe\tN zoe\t-\tstore\tdisabled",
                ])
            let json = try await Self.users(["list", "--json"], stage)
            let lines = try json.output.split(separator: "\n").map { try JSONValue(parsing: Array($0.utf8)) }
            #expect(lines.map { $0["username"]?.string } == ["alice", "bob", "carol", "zoe"])
            #expect(lines.map { $0["place"]?.string } == ["file", "file", "store", "store"])
            #expect(lines.map { $0["disabled"]?.bool } == [false, false, false, true])
            #expect(lines[2]["locale"] == "de-AT" && lines[2]["hidden"] == false && lines[2]["createdAt"] != nil)
            for output in [text.output, json.output] {
                #expect(
                    !output.contains("PASSWORDMARKER") && !output.contains("scrypt") && !output.contains("-password"))
            }
        }
    }
}
