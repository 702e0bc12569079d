import Crypto
import HTTP
import Simulator
import TestSupport
import Testing
import Time

@Suite("Amazon's certification", .timeLimit(.minutes(5))) struct CertificationTests {
    static let skillID = "amzn1.ask.skill.00000000-0000-4000-8000-00000000000c"
    static let clock: WallClock = { UnixTime(seconds: 1_790_000_000) }

    /// One for all runs, since RSA keys take their time.
    static let hosts = Result<AmazonHosts, CryptoError> { () throws(CryptoError) in
        AmazonHosts(authority: try Authority(now: clock()), clients: [], clock: clock)
    }

    /// The cases that a verifier with that fault gets wrong.
    static func wrong(_ fault: SwitchableVerifier.Fault?) async throws -> Set<String> {
        let hosts = try hosts.get()
        let verifier = SwitchableVerifier(fault: fault, hosts: hosts, skillID: skillID, clock: clock)
        let certification = Certification(
            url: "http://endpoint.invalid/", skillID: skillID, hosts: hosts, isTrusted: true, clock: clock)
        var wrong: Set<String> = []
        for item in CertificationCase.all {
            let result = await certification.result(of: item) { request throws(CertificationFailure) in
                HTTPResponse(status: await verifier.status(of: request))
            }
            if !result.isRight { wrong.insert(item.name) }
        }
        return wrong
    }

    @Test("a verifier with every check answers every case as it should")
    func whole() async throws {
        #expect(try await Self.wrong(nil) == [])
        #expect(CertificationCase.all.count >= 40)
        #expect(Set(CertificationCase.all.map(\.name)).count == CertificationCase.all.count)
    }

    static let faults: [(SwitchableVerifier.Fault, Set<String>)] = [
        (.takesNoSignature, ["signature-missing", "signature-empty", "signature-sha1-only"]),
        (.takesNoAddress, ["chain-url-missing"]), (.readsAnyBase64, ["signature-base64"]),
        (.verifiesNothing, ["signature-other-key", "signature-other-body", "signature-sha1"]),
        (.takesOldHeader, ["signature-sha1-only"]), (.takesSHA1, ["signature-sha1"]),
        (.takesAnyScheme, ["url-scheme"]), (.takesAnyHost, ["url-host", "url-user"]),
        (.findsHostAnywhere, ["url-host", "url-user"]), (.takesAnyPort, ["url-port"]),
        (.takesAnyPath, ["url-path", "url-path-case", "url-dots", "url-dots-encoded"]),
        (.ignoresPathCase, ["url-path-case"]), (.resolvesNoDots, ["url-dots", "url-dots-encoded"]),
        (.resolvesNoEncodedDots, ["url-dots-encoded"]), (.takesExpired, ["certificate-expired"]),
        (.takesEarly, ["certificate-early"]), (.takesAnyName, ["certificate-name", "certificate-common-name"]),
        (.takesAnyUsage, ["certificate-usage"]),
        (
            .trustsAnyRoot,
            ["chain-other-root", "chain-incomplete", "chain-no-authority", "certificate-self-signed"]
        ), (.takesOld, ["timestamp-old", "event-old"]), (.takesFuture, ["timestamp-future"]),
        (.takesNoTimestamp, ["timestamp-missing"]), (.takesAnyOldEvent, ["event-old"]),
        (.takesAnySkill, ["skill-other", "skill-other-in-context"]),
        (.readsSessionSkillAlone, ["skill-other-in-context"]), (.takesAnyBody, ["body-not-json", "body-empty"]),
        (.takesAnyMethod, ["method"]), (.takesAnyType, ["content-type"]), (.takesAnySize, ["body-oversized"]),
        (.comparesAddressAsText, ["right-address-forms"]), (.readsHeadersWithCase, ["right-header-case"]),
        (.allowsThirtySeconds, ["right-late"]), (.allowsEventsNoHour, ["right-event-late"]),
    ]

    @Test("a verifier that lacks a check, or is too strict, is found out by the cases made for it", arguments: faults)
    func removed(fault: SwitchableVerifier.Fault, cases: Set<String>) async throws {
        #expect(try await Self.wrong(fault) == cases)
    }

    @Test("every case but the first right one is made for some fault, and every fault is tried")
    func complete() {
        #expect(Set(Self.faults.map(\.0)) == Set(SwitchableVerifier.Fault.allCases))
        let covered = Self.faults.reduce(into: Set<String>()) { $0.formUnion($1.1) }
        #expect(Set(CertificationCase.all.map(\.name)).subtracting(covered) == ["right"])
    }

    @Test("an endpoint that trusts no authority of ours gets the cases that need none, and none of the others")
    func untrusted() async throws {
        let hosts = try Self.hosts.get()
        let certification = Certification(
            url: "http://endpoint.invalid/", skillID: Self.skillID, hosts: hosts, isTrusted: false, clock: Self.clock)
        for item in CertificationCase.all {
            let result = await certification.result(of: item) { _ throws(CertificationFailure) in
                HTTPResponse(status: item.statuses[0])
            }
            #expect(result.isLeftOut == item.needsTrust && result.isRight != item.needsTrust, "\(item.name)")
            #expect(!(item.isControl && !item.needsTrust), "a right request needs trust")
        }
    }

    @Test("an answer that does not come is a failure with its reason")
    func noAnswer() async throws {
        let hosts = try Self.hosts.get()
        let certification = Certification(
            url: "http://endpoint.invalid/", skillID: Self.skillID, hosts: hosts, isTrusted: true, clock: Self.clock)
        let result = await certification.result(of: CertificationCase.all[0]) { _ throws(CertificationFailure) in
            throw CertificationFailure(reason: "no connection")
        }
        #expect(!result.isRight && !result.isLeftOut && result.reason == "no connection")
    }
}
