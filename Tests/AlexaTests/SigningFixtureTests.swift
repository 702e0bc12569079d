import Alexa
import Crypto
import HTTP
import JSON
import TestSupport
import Testing
import Time

@Suite("Genuine chains and requests of Amazon's", .needsFixture("alexa-request-signing"))
struct SigningFixtureTests {
    private let folder = "alexa-request-signing/"

    /// The manifest writes `+00:00` for Z.
    private func time(_ value: JSONValue?) throws -> UnixTime {
        let text = try #require(value?.string)
        return try #require(UnixTime(iso8601: text))
    }

    @Test("Each chain is judged as its manifest says, at each of its moments")
    func chains() throws {
        let manifest = try #require(try JSONValue(parsing: Fixtures.bytes(folder + "chains.manifest.json")).array)
        #expect(manifest.count >= 4)
        let usual = try TrustAnchors(pem: Fixtures.bytes(folder + "trust-anchors/AmazonRootCA1.pem"))
        for entry in manifest {
            let pem = try Fixtures.bytes(folder + #require(entry["file"]?.string))
            for check in try #require(entry["checks"]?.array) {
                let now = try time(check["clock"])
                let outcome = Result { () throws(RequestRejection) in
                    try SigningChain(pem: pem, anchors: usual, at: now)
                }
                let comment: Comment = "\(entry["name"]?.string ?? "") at \(now.iso8601())"
                switch check["expect"]?.string {
                case "valid": #expect(throws: Never.self, comment) { try outcome.get() }
                case "expired": #expect(throws: RequestRejection.certificateExpired, comment) { try outcome.get() }
                case "not-yet-valid":
                    #expect(throws: RequestRejection.certificateNotYetValid, comment) { try outcome.get() }
                case "untrusted-without-legacy-anchor":
                    let rejection = #expect(throws: RequestRejection.self, comment) { try outcome.get() }
                    #expect(rejection?.reasonCode == "verification.chainUntrusted", comment)
                case let other: Issue.record("the manifest expects \(other ?? "nothing")")
                }
            }
        }
    }

    @Test("A request that Amazon signed in 2017 passes by its old signature alone, and fails as Signature-256")
    func captured() async throws {
        for entry in try #require(
            try JSONValue(parsing: Fixtures.bytes(folder + "captured.manifest.json")).array)
        {
            let body = try Fixtures.bytes(folder + #require(entry["body"]?.string))
            let pem = try Fixtures.bytes(folder + #require(entry["chain"]?.string))
            let now = try time(entry["clock"])
            let bundle = try Certificate.bundle(pem: pem)
            let anchors = try TrustAnchors(certificates: [bundle[1]], anyCertificateIsAnchor: true)
            let chain = try SigningChain(pem: pem, anchors: anchors, at: now)
            let old = try #require(entry["headers"]?["Signature"]?.string)
            let signature = try RequestChecks.signatureBytes(old)
            #expect(chain.publicKey.isValidSHA1(signature: signature, of: body))
            var changed = body
            changed[10] ^= 1
            #expect(!chain.publicKey.isValidSHA1(signature: signature, of: changed))

            let root = try JSONDocument(parsing: body).root
            #expect(throws: Never.self) { try RequestChecks.timestamp(of: root, at: now) }
            let late = now.adding(seconds: 151)
            #expect(throws: RequestRejection.self) { try RequestChecks.timestamp(of: root, at: late) }

            let clock = ManualClock(now)
            let http = RecordingHTTPClient(inTurn: [.success(HTTPResponse(status: 200, body: pem))])
            let verifier = RequestVerifier(
                skillIDs: [],
                chains: CertificateChains(
                    http: http, anchors: anchors, clock: clock.wall, monotonic: clock.monotonic), clock: clock.wall)
            let url = try #require(entry["headers"]?["SignatureCertChainUrl"]?.string)
            let request = HTTPRequest(
                method: .post, target: "/", fields: ["SignatureCertChainUrl": url, "Signature-256": old], body: body,
                deadline: clock.deadline())
            await #expect(throws: RequestRejection.signatureWrong) { try await verifier.verify(request) }
        }
    }
}
