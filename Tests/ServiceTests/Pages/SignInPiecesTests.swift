import Crypto
import Service
import Testing
import Time

@Suite("Passwords and signed values") struct SignInPiecesTests {
    static func hash(_ text: String) throws -> PasswordHash { try #require(PasswordHash(phc: text)) }

    /// scrypt of "pleaseletmein" with the salt "SodiumChloride", N 16384, r 8, p 1: a vector of RFC 7914 §12.
    static let vector =
        "$scrypt$ln=14,r=8,p=1$U29kaXVtQ2hsb3JpZGU$"
        + "cCO9yzr9c0hGHAbNgf046/2o+7qQT44+qbVD9lRdofLVQylVYT8Pz2LUlwUkKpr55h6F3A1lHkDfzwF7RVdYhw"

    @Test("the password of RFC 7914's vector is right", .timeLimit(.minutes(5)))
    func right() async throws {
        let checks = PasswordChecks(decoy: try Self.hash(Self.vector))
        let credential = Users.Credential.hash(try Self.hash(Self.vector))
        #expect(await checks.outcome(of: Secret("pleaseletmein"), for: credential) == .right)
        #expect(await checks.outcome(of: Secret("swordfish"), for: .password(Secret("swordfish"))) == .right)
    }

    @Test(
        "any other password is wrong, and so is every password of nobody", .timeLimit(.minutes(5)),
        arguments: ["", "Pleaseletmein", "pleaseletmein ", "pleaseletmei"])
    func wrong(text: String) async throws {
        let checks = PasswordChecks(decoy: try Self.hash(Self.vector))
        #expect(await checks.outcome(of: Secret(text), for: .hash(try Self.hash(Self.vector))) == .wrong)
        #expect(await checks.outcome(of: Secret(text), for: .password(Secret("pleaseletmein"))) == .wrong)
        #expect(await checks.outcome(of: Secret("pleaseletmein"), for: nil) == .wrong)
    }

    @Test("two run and 32 wait; the others are told so at once", .timeLimit(.minutes(5)))
    func busy() async throws {
        let checks = PasswordChecks(decoy: try Self.hash(Self.vector))
        let outcomes = await withTaskGroup(of: PasswordChecks.Outcome.self) { group in
            for _ in 0..<200 { group.addTask { await checks.outcome(of: Secret("x"), for: nil) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.contains(.busy))
        #expect(outcomes.count { $0 == .wrong } >= PasswordChecks.threads + PasswordChecks.waitingLimit)
        #expect(await checks.outcome(of: Secret("x"), for: nil) == .wrong)
    }

    static let key = [UInt8](repeating: 7, count: 32)
    static let now = UnixTime(seconds: 1_000)

    @Test("what was signed is read until its end, by any process with the key", arguments: ["", "mia 3", "a.b;ü"])
    func signed(content: String) {
        let text = SignedValues(key: Self.key).sign(content, for: .session, until: UnixTime(seconds: 1_001))
        #expect(SignedValues(key: Self.key).content(of: text, for: .session, at: Self.now) == content)
        #expect(text.utf8.allSatisfy { $0 > 32 && $0 < 127 && !"\",;\\".utf8.contains($0) })
    }

    @Test("another purpose, key, end or content is refused")
    func forged() {
        let values = SignedValues(key: Self.key)
        let text = values.sign("mia", for: .session, until: UnixTime(seconds: 1_001))
        let other = SignedValues(key: [UInt8](repeating: 8, count: 32))
        #expect(values.content(of: text, for: .request, at: Self.now) == nil)
        #expect(other.content(of: text, for: .session, at: Self.now) == nil)
        #expect(values.content(of: text, for: .session, at: UnixTime(seconds: 1_001)) == nil)
        let parts = text.split(separator: ".").map(String.init)
        let forged = [
            "9999.\(parts[1]).\(parts[2])", "\(parts[0]).bWlh.x", "\(parts[0]).eHh4.\(parts[2])", "", "..",
            text + ".", text + "A", "\(parts[0]).\(parts[1])",
        ]
        for text in forged { #expect(values.content(of: text, for: .session, at: Self.now) == nil, "\(text)") }
    }
}
