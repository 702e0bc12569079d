import Alexa
import Crypto
import HTTP
import Time

extension CertificationCase {
    /// Requests that are signed rightly, and wrong in what they say or how they come.
    static let bodies: [CertificationCase] = [
        signed("timestamp-old", "a timestamp 151 seconds old") { $0.launch(secondsFromNow: -151) },
        signed("timestamp-future", "a timestamp 160 seconds ahead") { $0.launch(secondsFromNow: 160) },
        signed("timestamp-missing", "no timestamp") { $0.launch(secondsFromNow: nil) },
        signed("event-old", "a skill event an hour and a minute old") { $0.event(secondsFromNow: -3660) },
        signed("skill-other", "the application id of another skill") {
            $0.launch(skillID: CertificationSender.otherSkill)
        },
        signed("skill-other-in-context", "another skill's application id in the context, ours in the session") {
            $0.launch(skillID: CertificationSender.otherSkill, sessionSkillID: $0.skillID)
        },
        signed("body-not-json", "a body that is no JSON") { _ in Array("request=LaunchRequest".utf8) },
        signed("body-empty", "an empty body") { _ in [] },
        CertificationCase(
            name: "method", sends: "a right request by PUT", statuses: [405, 400, 404], needsTrust: false
        ) { sender throws(CryptoError) in
            var request = try sender.signed(sender.launch())
            request.method = .put
            return request
        },
        CertificationCase(
            name: "content-type", sends: "a right request as text/plain", statuses: [415, 400], needsTrust: false
        ) { sender throws(CryptoError) in
            var request = try sender.signed(sender.launch())
            request.fields["Content-Type"] = "text/plain"
            return request
        },
        CertificationCase(
            name: "body-oversized", sends: "a right request of two megabytes", statuses: [413, 400], needsTrust: false
        ) { sender throws(CryptoError) in
            let body = sender.launch()
            return try sender.signed(body + [UInt8](repeating: UInt8(ascii: " "), count: 2 << 20))
        },
    ]

    private static func signed(
        _ name: String, _ sends: String, _ body: @escaping @Sendable (CertificationSender) -> [UInt8]
    ) -> CertificationCase {
        CertificationCase(name: name, sends: sends, statuses: [400], needsTrust: true) { sender throws(CryptoError) in
            try sender.signed(body(sender))
        }
    }
}

/// A request of a case.
struct CertificationRequest: Sendable {
    var method = HTTPMethod.post
    var fields: HTTPFields
    let body: [UInt8]
}

/// Makes the requests: who signs, where the certificates lie, and for which skill they are.
struct CertificationSender: Sendable {
    static let otherSkill = "amzn1.ask.skill.ffffffff-ffff-4fff-8fff-ffffffffffff"

    let hosts: AmazonHosts
    let skillID: String
    let clock: WallClock

    var signer: AlexaSigner { AlexaSigner(hosts.authority) }
    var key: PrivateKey { hosts.authority.signing.key }

    func signed(_ body: [UInt8], _ fault: SigningFault? = nil) throws(CryptoError) -> CertificationRequest {
        CertificationRequest(fields: try signer.headers(for: body, fault: fault), body: body)
    }

    /// A signer whose certificate is nobody's but its own.
    func selfSigned() throws(CryptoError) -> AlexaSigner {
        let key = try PrivateKey.generate(.rsa2048)
        let template = CertificateTemplate.server(
            [Authority.signerName], from: clock().adding(seconds: -3600), until: clock().adding(seconds: 86_400))
        let certificate = try Certificate.issue(template, publicKey: key.publicKey, issuer: nil, signedBy: key)
        let file = "echo-api-cert-self-signed.pem"
        hosts.serve(chain: certificate.pem, as: file)
        return AlexaSigner(key: key, chainURL: AlexaSigner.chainFolder + file)
    }

    /// A launch of the skill; without `secondsFromNow` it has no timestamp.
    func launch(
        secondsFromNow: Int64? = 0, skillID: String? = nil, sessionSkillID: String? = nil
    ) -> [UInt8] {
        let id = skillID ?? self.skillID
        let time = secondsFromNow.map { #""timestamp":"\#(clock().adding(seconds: $0).iso8601())","# } ?? ""
        let user = #""user":{"userId":"amzn1.ask.account.CERTIFICATION"}"#
        return Array(
            """
            {"version":"1.0","session":{"new":true,"sessionId":"amzn1.echo-api.session.\(SecureRandom.uuid())",\
            "application":{"applicationId":"\(sessionSkillID ?? id)"},\(user)},\
            "context":{"System":{"application":{"applicationId":"\(id)"},\(user),\
            "device":{"deviceId":"amzn1.ask.device.CERTIFICATION","supportedInterfaces":{}},\
            "apiEndpoint":"https://api.amazonalexa.com"}},\
            "request":{"type":"LaunchRequest","requestId":"amzn1.echo-api.request.\(SecureRandom.uuid())",\
            \(time)"locale":"en-US"}}
            """.utf8)
    }

    /// A skill event, which Amazon sends again for an hour.
    func event(secondsFromNow: Int64) -> [UInt8] {
        let time = clock().adding(seconds: secondsFromNow).iso8601()
        return Array(
            """
            {"version":"1.0","context":{"System":{"application":{"applicationId":"\(skillID)"},\
            "user":{"userId":"amzn1.ask.account.CERTIFICATION"},"apiEndpoint":"https://api.amazonalexa.com"}},\
            "request":{"type":"AlexaSkillEvent.SkillEnabled","requestId":"\(SecureRandom.uuid())","timestamp":"\(time)"}}
            """.utf8)
    }
}
