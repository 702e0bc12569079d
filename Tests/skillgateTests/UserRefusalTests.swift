import Testing

@Suite("What the commands about users refuse", .timeLimit(.minutes(5))) struct UserRefusalTests {
    @Test("a taken username or sub, and a password that nobody could use, are refused, and nothing is added")
    func refused() async throws {
        try await Stage.with(UserCommandTests.embedded) { stage in
            let longest = String(repeating: "x", count: 1024)
            #expect(try await UserCommandTests.users(["add", "carol", "--sub", "s1"], stage, input: longest).code == 0)
            let cases: [([String], String, Int32, String)] = [
                (["carol"], "p", 1, "store has the username carol"), (["alice"], "p", 1, "file has the username alice"),
                (["dan", "--sub", "s1"], "p", 1, "store has the sub s1"),
                (["dan", "--sub", "u1001"], "p", 1, "file has the sub u1001"),
                (["dan", "--sub", "back-end"], "p", 1, "a client has the id back-end"),
                (["dan"], "", 2, "empty"), (["dan"], "\nsecond", 2, "empty"), (["dan"], "\r\n", 2, "empty"),
                (["dan"], longest + "x", 2, "longer than 1024"), (["dan"], "MARK\u{7}ER", 2, "control characters"),
                ([], "p", 2, "USERNAME"), (["dan", "eve"], "p", 2, "eve"), (["da\nn"], "p", 2, "control characters"),
                (["dan", "--email", "nowhere"], "p", 2, "--email"),
                (["dan", "--locale", "german"], "p", 2, "--locale"),
                (["dan", "--name", ""], "p", 2, "--name"),
            ]
            for (words, input, code, says) in cases {
                let run = try await UserCommandTests.users(["add"] + words, stage, input: input)
                #expect(run.code == code && run.output.isEmpty, "\(words)")
                #expect(run.error.contains(says) && !run.error.contains("MARK"), "\(run.error)")
            }
            let list = try await UserCommandTests.users(["list"], stage)
            #expect(list.output.split(separator: "\n").count == 3)
        }
    }

    @Test(
        "a user of the file is changed there, and nobody cannot be changed",
        arguments: ["disable", "enable", "password"])
    func others(command: String) async throws {
        try await Stage.with(UserCommandTests.embedded) { stage in
            for (username, says) in [("alice", "users file"), ("Alice", "no user"), ("u1001", "no user")] {
                let run = try await UserCommandTests.users([command, username], stage, input: "p")
                #expect(run.code == 1 && run.output.isEmpty && run.error.contains(says), "\(run.error)")
            }
        }
        try await Stage.with { stage in
            let run = try await UserCommandTests.users([command, "alice", "--json"], stage, input: "p")
            #expect(run.code == 2 && run.output.contains("provider.external"))
        }
    }

    @Test("a user whom the file changes, disables or drops between two starts loses the grants, and no other does")
    func file() async throws {
        func user(_ name: String, _ password: String = "pw", _ more: String = "") -> String {
            "{ sub: 's-\(name)', username: '\(name)', password: '\(password)', name: 'N', email: 'n@example.com' \(more) },"
        }
        let names = ["same", "changed", "disabled", "dropped"]
        var options = UserCommandTests.embedded
        options.users = "{ users: [\(names.map { user($0) }.joined())] }"
        try await Stage.with(options) { stage in
            var tokens: [String: FormBrowser.Tokens] = [:]
            try await stage.run { service in
                for name in names {
                    var browser = FormBrowser(service)
                    tokens[name] = try await browser.link(name, "pw")
                }
            }
            try stage.write(
                users:
                    "{ users: [\(user("same"))\(user("changed", "new"))\(user("disabled", "pw", ", disabled: true"))] }"
            )
            try await stage.run { service in
                for name in names {
                    let refreshed = try await tokens[name]?.refreshed(at: service)
                    #expect(refreshed == (name == "same" ? "200" : "400 invalid_grant"), "\(name)")
                }
            }
            // What ended stays ended, also where the file is as it was.
            try stage.write(users: options.users ?? "")
            try await stage.run { service in
                for name in names {
                    let refreshed = try await tokens[name]?.refreshed(at: service)
                    #expect(refreshed == (name == "same" ? "200" : "400 invalid_grant"), "\(name)")
                }
            }
        }
    }
}
