import Alexa
import Crypto
import HTTP
import TestSupport
import Testing
import Time

@Suite("A request of the forwarder's") struct ForwarderVerifierTests {
    let secret = Secret("forwarder-secret")
    let clock = ManualClock()
    let target = "/alexa/smart-home?skill=a&region=EU"
    let body = Array(#"{"directive":{}}"#.utf8)

    private func request(_ header: String?) -> HTTPRequest {
        var request = HTTPRequest(method: .post, target: target, body: body, deadline: clock.deadline())
        request.fields["X-Skillgate-Forwarder"] = header
        return request
    }

    private func signed(at time: UnixTime) -> String {
        ForwarderVerifier.headerValue(secret: secret, at: time, target: target, body: body)
    }

    private func rejection(_ request: HTTPRequest) -> RequestRejection? {
        do {
            _ = try ForwarderVerifier(secret: secret, clock: clock.wall).verify(request)
            return nil
        } catch { return error }
    }

    @Test("The code is HMAC-SHA256 over time, path with query and body")
    func form() throws {
        let message = Array("1736935200.\(target).".utf8) + body
        let code = Hex.encode(HMACSHA256.code(message, key: Array("forwarder-secret".utf8)))
        #expect(signed(at: clock.now) == "t=1736935200,v1=\(code)")
        let verified = try ForwarderVerifier(secret: secret, clock: clock.wall).verify(
            request("t=1736935200,v1=\(code)"))
        #expect(verified.proof == .forwarder)
        #expect(verified.body == body)
    }

    @Test(
        "Its time may differ by 60 seconds", arguments: [(-61, false), (-60, true), (0, true), (60, true), (61, false)])
    func window(seconds: Int64, isGood: Bool) {
        let rejection = rejection(request(signed(at: clock.now.adding(seconds: seconds))))
        #expect(rejection == (isGood ? nil : .forwarderStale(clockDifferenceMilliseconds: seconds * 1000)))
    }

    @Test("Another path, query, body, time or secret is refused")
    func changed() {
        let good = request(signed(at: clock.now))
        #expect(rejection(good) == nil)
        var changed = good
        changed.target = "/alexa/smart-home?skill=b&region=EU"
        #expect(rejection(changed) == .forwarderWrong)
        changed = good
        changed.target = "/alexa/smart-home"
        #expect(rejection(changed) == .forwarderWrong)
        changed = good
        changed.body += [32]
        #expect(rejection(changed) == .forwarderWrong)
        changed = good
        changed.fields["X-Skillgate-Forwarder"] = signed(at: clock.now).replacing("t=1736935200", with: "t=1736935201")
        #expect(rejection(changed) == .forwarderWrong)
        let other = ForwarderVerifier.headerValue(
            secret: Secret("another"), at: clock.now, target: target, body: body)
        #expect(rejection(request(other)) == .forwarderWrong)
    }

    @Test(
        "A header of another form is refused",
        arguments: [
            "x", "t=1736935200", "v1=00", "t=,v1=00", "t=1736935200,v1=", "t=1736935200,v1=zz", "t=-1,v1=00",
            "t=1736935200,v1=00,v1=00", "v1=00,t=1736935200",
        ])
    func malformed(header: String) {
        #expect(rejection(request(header)) == .forwarderMalformed)
    }

    @Test("A header that is missing, empty or given twice is refused")
    func missing() {
        #expect(rejection(request(nil)) == .headerMissing("X-Skillgate-Forwarder"))
        #expect(rejection(request("")) == .headerMissing("X-Skillgate-Forwarder"))
        var twice = request(signed(at: clock.now))
        twice.fields.append("x-skillgate-forwarder", signed(at: clock.now))
        #expect(rejection(twice) == .headerRepeated("X-Skillgate-Forwarder"))
    }

    @Test("A right code over no JSON is refused")
    func noJSON() {
        let body = Array("nonsense".utf8)
        var request = request(
            ForwarderVerifier.headerValue(secret: secret, at: clock.now, target: target, body: body))
        request.body = body
        #expect(rejection(request)?.reasonCode == "verification.bodyUnreadable")
    }
}
