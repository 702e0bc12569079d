import Alexa
import Crypto
import HTTP
import JSON
import Time

/// A request as somebody recorded it, with what is needed to judge it.
struct RecordedRequest {
    /// The header that holds the signature.
    enum Signature {
        /// `Signature-256`.
        case sha256(String)
        /// `Signature`, as requests carried it before 2021.
        case sha1(String)
    }

    let body: [UInt8]
    let signature: Signature
    let chain: [UInt8]
    let chainURL: String?
    let skillID: String?

    /// What each check says, in the order of the service's own checks; one that failed stops no other.
    func findings(anchors: TrustAnchors, at now: UnixTime) -> [VerifyFinding] {
        let certificates = Self.certificates(chain)
        let document = Self.document(body)
        func leaf() throws(RequestRejection) -> Certificate {
            guard let leaf = try certificates.get().first else { throw .chainUnavailable(.empty) }
            return leaf
        }
        return [
            finding("headers") { () throws(RequestRejection) in _ = try RequestChecks.headers(fields) },
            chainURL == nil
                ? VerifyFinding("url", .skipped)
                : finding("url") { () throws(RequestRejection) in _ = try RequestChecks.url(chainURL ?? "") },
            finding("chain") { () throws(RequestRejection) in
                try RequestChecks.chain(certificates.get(), anchors: anchors, at: now)
            },
            finding("certificate.dates") { () throws(RequestRejection) in
                try RequestChecks.dates(leaf(), at: now)
            },
            finding("certificate.name") { () throws(RequestRejection) in try RequestChecks.name(leaf()) },
            finding("certificate.usage") { () throws(RequestRejection) in try RequestChecks.usage(leaf()) },
            finding("signature") { () throws(RequestRejection) in try judgeSignature(by: leaf().publicKey) },
            finding("timestamp") { () throws(RequestRejection) in
                try RequestChecks.timestamp(of: document.get().root, at: now)
            },
            skillID.map { id in
                finding("skill") { () throws(RequestRejection) in
                    try RequestChecks.skill(of: document.get().root, isOneOf: [id])
                }
            } ?? VerifyFinding("skill", .skipped),
        ]
    }

    /// The headers; where no address was recorded a right one stands in, since only the signature can be judged then.
    private var fields: HTTPFields {
        let text =
            switch signature {
            case .sha256(let text), .sha1(let text): text
            }
        return ["SignatureCertChainUrl": chainURL ?? "https://s3.amazonaws.com/echo.api/", "Signature-256": text]
    }

    private func judgeSignature(by key: PublicKey) throws(RequestRejection) {
        switch signature {
        case .sha256(let text):
            try RequestChecks.signature(RequestChecks.signatureBytes(text), of: body, by: key)
        case .sha1(let text):
            guard key.isValidSHA1(signature: try RequestChecks.signatureBytes(text), of: body) else {
                throw .signatureWrong
            }
        }
    }

    private static func certificates(_ pem: [UInt8]) -> Result<[Certificate], RequestRejection> {
        guard !pem.isEmpty else { return .failure(.chainUnavailable(.empty)) }
        do { return .success(try Certificate.bundle(pem: pem)) } catch {
            return .failure(.chainUnavailable(.unreadable))
        }
    }

    private static func document(_ body: [UInt8]) -> Result<JSONDocument, RequestRejection> {
        do { return .success(try JSONDocument(parsing: body)) } catch {
            return .failure(.bodyUnreadable(error.reason))
        }
    }

    private func finding(_ check: String, _ judge: () throws(RequestRejection) -> Void) -> VerifyFinding {
        do throws(RequestRejection) {
            try judge()
            return VerifyFinding(check, .holds)
        } catch {
            return VerifyFinding(check, .fails(error))
        }
    }
}

/// What one check of a recorded request says.
struct VerifyFinding {
    enum Outcome {
        case holds
        case skipped
        case fails(RequestRejection)
    }

    let check: String
    let outcome: Outcome

    init(_ check: String, _ outcome: Outcome) {
        self.check = check
        self.outcome = outcome
    }

    /// Whether it stands in the way of the verdict.
    var holds: Bool {
        if case .fails = outcome { false } else { true }
    }

    /// Reason code and what more is known.
    var explanation: String {
        guard case .fails(let rejection) = outcome else { return "" }
        return rejection.reasonCode + (fact(rejection).map { ": \($0)" } ?? "")
    }

    var json: JSONValue {
        var object: JSONObject = ["check": .string(check), "ok": .bool(holds), "reason": .null]
        switch outcome {
        case .holds: break
        case .skipped: object["reason"] = "skipped"
        case .fails(let rejection):
            object["reason"] = .string(rejection.reasonCode)
            if let fact = fact(rejection) { object["detail"] = .string(fact) }
        }
        return .object(object)
    }

    /// The detail of the service's log, or for a reader at a terminal that of the certificate's file.
    private func fact(_ rejection: RequestRejection) -> String? {
        switch rejection {
        case .chainUnavailable(.empty): "the chain file is empty"
        case .chainUnavailable(.unreadable): "the chain file holds no certificates that can be read"
        case .certificateName: "no DNS name is \(RequestChecks.certificateName)"
        case .certificateUsage: "the key usage does not include digitalSignature"
        default: rejection.detail
        }
    }
}
