import Service
import Testing

@Suite("The users file") struct UsersTests {
    private static let hash =
        "$scrypt$ln=16,r=8,p=1$aM15713r3Xsvxbi31lqr1Q$nFNh2CVHVjNldFVKDHDlm4CbdRSCdEBsjjJxD+iCs5E"

    private func faults(_ text: String, development: Bool = true) -> [String] {
        do {
            _ = try Users(json5: Array(text.utf8), development: development)
            return []
        } catch { return error.faults.map { "\($0.path): \($0.problem)" } }
    }

    @Test("users are read in order and found by their sub")
    func read() throws {
        let text = #"""
            // a comment, and trailing commas
            { users: [
              { sub: "1", username: "a", passwordHash: "\#(Self.hash)", name: "A", email: "a@example.com", locale: "de" },
              { sub: "2", username: "b", passwordHash: "\#(Self.hash)", name: "Bäcker", email: "b@example.com", disabled: true },
            ], }
            """#
        let users = try Users(json5: Array(text.utf8), development: false)
        #expect(users.all.map(\.subject) == ["1", "2"])
        #expect(users["1"]?.locale == "de")
        #expect(users["1"]?.isDisabled == false)
        #expect(users["2"]?.name == "Bäcker")
        #expect(users["2"]?.isDisabled == true)
        #expect(users["3"] == nil)
        guard case .hash(let hash) = users["1"]?.credential else {
            Issue.record("no hash")
            return
        }
        #expect((hash.logarithmicCost, hash.blockSize, hash.parallelism) == (16, 8, 1))
        #expect((hash.salt.count, hash.hash.count) == (16, 32))
    }

    @Test("plain passwords are for development alone, and not to be seen")
    func plainPasswords() throws {
        let text = #"{users:[{sub:"1",username:"a",password:"hunter2",name:"A",email:"a@b.c"}]}"#
        #expect(
            faults(text, development: false) == ["users[0].password: a plain password is taken in development alone"])
        let users = try Users(json5: Array(text.utf8), development: true)
        var dumped = ""
        dump(users, to: &dumped)
        #expect(!dumped.contains("hunter2"))
        #expect(!"\(users)".contains("hunter2"))
    }

    @Test("every fault is listed at once, each with its place")
    func allFaults() {
        let text = #"""
            { extra: 1, users: [
              { sub: "1", username: "a", password: "x", name: "A", email: "a@b.c", role: "admin" },
              { sub: "1", username: "a", password: "x", passwordHash: "y", name: 7, email: "no address", locale: "e" },
              { sub: "", name: "C", email: "c@d.e", passwordHash: "$2b$12$abc", disabled: "yes" },
              "text",
            ] }
            """#
        #expect(
            faults(text) == [
                "extra: unknown key", "users[0].role: unknown key", "users[1].name: not a text",
                "users[1].email: not an address", "users[1].locale: not a locale, as en-US is",
                "users[1].sub: another user has it", "users[1].username: another user has it",
                "users[1]: both password and passwordHash",
                "users[2].sub: empty, longer than 255 bytes, or with control characters", "users[2].username: missing",
                "users[2].passwordHash: not a PHC string of scrypt within bounds",
                "users[2].disabled: neither true nor false",
                "users[3]: not an object",
            ])
    }

    @Test(
        "a file that is none says so",
        arguments: [
            ("", ""), ("[]", ""), ("{", ""), ("{}", "users"), ("{users:{}}", "users"), ("{users:null}", "users"),
        ])
    func noFile(text: String, path: String) {
        let faults = faults(text)
        #expect(faults.count == 1)
        #expect(faults.first?.hasPrefix(path + ": ") == true)
    }

    @Test(
        "a user without a member, or without any password, is a fault",
        arguments: ["sub", "username", "name", "email", "password"])
    func missing(member: String) {
        let members = ["sub", "username", "name", "email", "password"].filter { $0 != member }
        let text = "{users:[{" + members.map { $0 + ":\"a@b\"" }.joined(separator: ",") + "}]}"
        #expect(
            faults(text) == [
                member == "password" ? "users[0]: neither password nor passwordHash" : "users[0].\(member): missing"
            ])
    }

    @Test(
        "a PHC string of scrypt within bounds is read",
        arguments: [
            UsersTests.hash, "$scrypt$ln=14,r=8,p=1$c2FsdHNhbHQ$MDEyMzQ1Njc4OWFiY2RlZg",
            "$scrypt$ln=17,r=8,p=2$c2FsdHNhbHQ$MDEyMzQ1Njc4OWFiY2RlZg",
        ])
    func hashes(text: String) {
        #expect(PasswordHash(phc: text) != nil)
    }

    @Test(
        "any other is not",
        arguments: [
            "", "scrypt", "$scrypt$", "$argon2id$v=19$m=65536,t=3,p=4$c2FsdHNhbHQ$MDEyMzQ1Njc4OWFiY2RlZg",
            "$scrypt$ln=16,r=8$c2FsdHNhbHQ$MDEyMzQ1Njc4OWFiY2RlZg",
            "$scrypt$r=8,ln=16,p=1$c2FsdHNhbHQ$MDEyMzQ1Njc4OWFiY2RlZg",
            "$scrypt$ln=9,r=8,p=1$c2FsdHNhbHQ$MDEyMzQ1Njc4OWFiY2RlZg",
            "$scrypt$ln=24,r=8,p=1$c2FsdHNhbHQ$MDEyMzQ1Njc4OWFiY2RlZg",
            "$scrypt$ln=-16,r=8,p=1$c2FsdHNhbHQ$MDEyMzQ1Njc4OWFiY2RlZg",
            "$scrypt$ln=016,r=8,p=1$c2FsdHNhbHQ$MDEyMzQ1Njc4OWFiY2RlZg",
            "$scrypt$ln=16,r=8,p=0$c2FsdHNhbHQ$MDEyMzQ1Njc4OWFiY2RlZg",
            "$scrypt$ln=16,r=8,p=1$c2E$MDEyMzQ1Njc4OWFiY2RlZg",
            "$scrypt$ln=16,r=8,p=1$c2FsdHNhbHQ$MDEy", "$scrypt$ln=16,r=8,p=1$c2FsdHNhbHQ=$MDEyMzQ1Njc4OWFiY2RlZg==",
            "$scrypt$ln=16,r=8,p=1$c2FsdHNhbHQ$MDEyMzQ1Njc4OWFiY2RlZg$",
            "$scrypt$ln=16,r=8,p=1$c2Fs-HNhbHQ$MDEyMzQ1Njc4OWFiY2RlZg",
            "$scrypt$ln=99999999999999999999,r=8,p=1$c2FsdHNhbHQ$MDEyMzQ1Njc4OWFiY2RlZg",
        ])
    func otherHashes(text: String) {
        #expect(PasswordHash(phc: text) == nil)
    }
}
