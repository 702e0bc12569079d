import Crypto
import JSON
import TestSupport
import Testing
import Time

/// The cases of github.com/C2SP/x509-limbo about chains.
@Suite("x509-limbo", .needsFixture("x509-limbo"))
struct LimboTests {
    /// What browsers refuse and this judgement takes, with the clause: duties of authorities towards browsers, no
    /// part of a verifier's path validation (RFC 5280 §6).
    ///
    /// Those in the fixtures' own list of disputed ones, where the suite's authors have changed their minds, are not here.
    static let otherwise: [String: String] = [
        "webpki::aki::root-with-aki-missing-keyidentifier": "CA/Browser Forum BR 7.1.2.1.3: the form of a root",
        "webpki::ee-basicconstraints-ca": "CA/Browser Forum BR 7.1.2.7.6: a subscriber's certificate is no authority",
        "webpki::eku::ee-critical-eku": "CA/Browser Forum BR 7.1.2.7.6: the extension is not critical",
        "webpki::malformed-aia": "RFC 5280 4.2.2.1: not critical, and no address in it is ever asked",
        "webpki::nc::intermediate-permitted-excluded-subtrees-both-empty-sequences":
            "RFC 5280 4.2.1.10: what an authority must not issue; it constrains nothing",
        "webpki::san::san-critical-with-nonempty-subject": "RFC 5280 4.2.1.6: should not be critical then",
    ]

    /// Names, which the caller of a judgement checks, so the judgement of the chain says nothing of them.
    static let aboutNames: Set<String> = [
        "webpki::san::mismatch-subdomain-san", "webpki::san::mismatch-apex-subdomain-san",
        "webpki::san::wildcard-embedded-leftmost-san", "webpki::san::wildcard-match-across-labels-san",
        "webpki::san::unicode-emoji-san",
    ]

    @Test("chains are judged as the suite says, but for what is disputed")
    func suite() throws {
        let disputed = Set(
            (try json("x509-limbo/disputed.json")["cases"]?.array ?? []).compactMap { $0["id"]?.string })
        var judged = 0
        for given in try json("x509-limbo/limbo.half.json")["testcases"]?.array ?? [] {
            let id = try #require(given["id"]?.string)
            guard !disputed.contains(id), !Self.aboutNames.contains(id) else { continue }
            let (trusted, why) = Self.judge(given)
            let expected = (given["expected_result"]?.string == "SUCCESS") != (Self.otherwise[id] != nil)
            #expect(trusted == expected, "\(id): \(why)")
            judged += 1
        }
        #expect(judged > 45)
    }

    static func judge(_ given: JSONValue) -> (trusted: Bool, why: String) {
        let texts = { (name: String) in (given[name]?.array ?? []).compactMap(\.string) }
        let moment = UnixTime(iso8601: given["validation_time"]?.string ?? "2026-11-30T12:00:00Z")
        do {
            let certificates = { (name: String) in try texts(name).map { try Certificate(pem: Array($0.utf8)) } }
            let leaf = try Certificate(pem: Array((given["peer_certificate"]?.string ?? "").utf8))
            let depth = given["max_chain_depth"]?.integer.map(Int.init) ?? 8
            let anchors = try TrustAnchors(certificates: certificates("trusted_certs"), maximumIntermediates: depth)
            let verdict = anchors.judge(
                leaf: leaf, intermediates: try certificates("untrusted_intermediates"),
                at: moment ?? UnixTime(seconds: 0))
            return (verdict == .trusted, "\(verdict)")
        } catch {
            return (false, "\(error)")
        }
    }
}
