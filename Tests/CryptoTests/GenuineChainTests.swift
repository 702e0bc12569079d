import Crypto
import JSON
import TestSupport
import Testing
import Time

/// Certificate files that Amazon served over the years, at moments when they were good and when they were not.
@Suite("Genuine chains", .needsFixture("alexa-request-signing"))
struct GenuineChainTests {
    static let folder = "alexa-request-signing/"

    @Test("each file is judged as its record says")
    func manifest() throws {
        let chains = try json(Self.folder + "chains.manifest.json").array ?? []
        #expect(chains.count == 4)
        for chain in chains {
            let name = try #require(chain["name"]?.string)
            let certificates = try Self.certificates(chain)
            #expect(certificates.count == chain["certificates_in_file"]?.integer.map(Int.init))
            #expect(certificates[0].dnsNames == chain["leaf_san"]?.array?.compactMap(\.string))
            #expect(certificates[0].allowsDigitalSignature, "\(name)")
            #expect(certificates[0].publicKey.kind == .rsa(bits: 2048))
            #expect(certificates.map(\.subject) == chain["subjects"]?.array?.compactMap(\.string))
            for check in chain["checks"]?.array ?? [] {
                let moment = try #require(UnixTime(iso8601: check["clock"]?.string ?? ""))
                // The roots of 2016 are gone, so that file's second certificate is its anchor.
                let anchors =
                    try chain["anchor"]?.string.map { try Self.anchor($0) }
                    ?? TrustAnchors(certificates: [certificates[1]], anyCertificateIsAnchor: true)
                let verdict = anchors.judge(
                    leaf: certificates[0], intermediates: Array(certificates.dropFirst()), at: moment)
                let expected = try #require(check["expect"]?.string)
                switch expected {
                case "valid": #expect(verdict == .trusted, "\(name)")
                case "expired": #expect(verdict == .expired, "\(name)")
                case "not-yet-valid": #expect(verdict == .notYetValid, "\(name)")
                default:
                    #expect(expected == "untrusted-without-legacy-anchor")
                    #expect(verdict == .trusted, "\(name)")
                    let today = try Self.anchor("AmazonRootCA1.pem").judge(
                        leaf: certificates[0], intermediates: Array(certificates.dropFirst()), at: moment)
                    #expect(today == .untrusted("unable to get local issuer certificate"), "\(name)")
                }
            }
        }
    }

    @Test("an intermediate is an anchor only where any certificate may be one, and the file's last one never is")
    func anchors() throws {
        let chain = try #require(
            json(Self.folder + "chains.manifest.json").array?.first {
                $0["name"]?.string == "echo-api-11-2022"
            })
        let certificates = try Self.certificates(chain)
        let moment = try #require(UnixTime(iso8601: "2022-12-15T11:59:59Z"))
        let judge = { (anchors: TrustAnchors) in
            anchors.judge(leaf: certificates[0], intermediates: Array(certificates.dropFirst()), at: moment)
        }
        let refused = "unable to get local issuer certificate"
        #expect(try judge(TrustAnchors(certificates: [certificates[1]], anyCertificateIsAnchor: true)) == .trusted)
        #expect(try judge(TrustAnchors(certificates: [certificates[1]])) != .trusted)
        #expect(try judge(TrustAnchors(certificates: [])) == .untrusted(refused))
        #expect(try judge(Self.anchor("StarfieldServicesRootG2.pem")) == .trusted, "by the cross-signed root")
        #expect(
            try Self.anchor("AmazonRootCA1.pem").judge(leaf: certificates[0], intermediates: [], at: moment)
                == .untrusted(refused), "the intermediates come from the file alone")
    }

    static func certificates(_ chain: JSONValue) throws -> [Certificate] {
        try Certificate.bundle(pem: Fixtures.bytes(folder + (chain["file"]?.string ?? "")))
    }

    static func anchor(_ name: String) throws -> TrustAnchors {
        try TrustAnchors(pem: Fixtures.bytes(folder + "trust-anchors/" + name))
    }
}
