import Crypto
import FoundationEssentials
import JSON
import Time

/// `skillgate verify`: every check of a signed request.
enum VerifyCommand: Command {
    static let name = "verify"
    static let summary = "says which checks a signed request passes, and why not"
    static let explanation = """
        Judges a recorded request exactly as the service does, check by check: headers, url, chain, certificate.dates,
        certificate.name, certificate.usage, signature, timestamp, skill. Without --chain-url or --skill-id that check
        is skipped. Exits with 0 only if all hold. --trust takes the place of the system's roots, and any certificate in
        it is an anchor, so that chains whose roots are gone can be judged. --signature checks the old SHA-1 header of
        requests recorded before 2021; the service itself never takes it.
        """
    static let options: [CommandOption] = [
        CommandOption("--body", value: "FILE", required: true, "the body, exactly as it arrived"),
        CommandOption("--signature-256", value: "BASE64", "the header Signature-256"),
        CommandOption("--signature", value: "BASE64", "instead: the old header Signature, over SHA-1"),
        CommandOption("--chain", value: "FILE", required: true, "the certificates, the signing one first"),
        CommandOption("--chain-url", value: "URL", "the header SignatureCertChainUrl"),
        CommandOption("--trust", value: "FILE", "the certificates that a chain must lead to"),
        CommandOption("--at", value: "INSTANT", "judges as at that time, 2026-11-30T12:00:00Z for example"),
        CommandOption("--skill-id", value: "ID", "the skill that the request must be for"),
        .json,
    ]
    static let example = """
        skillgate verify --body request.json --signature-256 "$SIGNATURE" --chain echo-api-cert.pem
        """

    static func run(_ arguments: Arguments) async throws(UsageError) -> Int32 {
        let signature: RecordedRequest.Signature
        switch (arguments.value("--signature-256"), arguments.value("--signature")) {
        case (let text?, nil): signature = .sha256(text)
        case (nil, let text?): signature = .sha1(text)
        case (nil, nil): throw UsageError("--signature-256 BASE64 is missing")
        default: throw UsageError("--signature does not go with --signature-256")
        }
        let recorded = RecordedRequest(
            body: try bytes(arguments.required("--body")), signature: signature,
            chain: try bytes(arguments.required("--chain")), chainURL: arguments.value("--chain-url"),
            skillID: arguments.value("--skill-id"))
        let findings = recorded.findings(anchors: try anchors(arguments.value("--trust")), at: try instant(arguments))
        let verdict = findings.allSatisfy(\.holds)
        if arguments.has("--json") {
            for finding in findings { Output.line(finding.json) }
            Output.line(["verdict": .bool(verdict)])
        } else {
            show(findings)
        }
        return verdict ? 0 : 1
    }

    private static func show(_ findings: [VerifyFinding]) {
        let width = findings.map(\.check.count).max() ?? 0
        for finding in findings {
            let name = finding.check + String(repeating: " ", count: width - finding.check.count)
            switch finding.outcome {
            case .holds: Output.line("\(Output.coloured("✓", .green)) \(finding.check)")
            case .skipped: Output.line("\(Output.coloured("-", .yellow)) \(name)  skipped")
            case .fails: Output.line("\(Output.coloured("✗", .red)) \(name)  \(finding.explanation)")
            }
        }
    }

    private static func anchors(_ path: String?) throws(UsageError) -> TrustAnchors {
        do {
            guard let path else { return try TrustAnchors.system() }
            return try TrustAnchors(pem: bytes(path), anyCertificateIsAnchor: true)
        } catch let error as UsageError {
            throw error
        } catch {
            throw UsageError("\(path ?? "the system's folder of roots") holds no certificates")
        }
    }

    private static func bytes(_ path: String) throws(UsageError) -> [UInt8] {
        guard let bytes = FileManager.default.contents(atPath: path) else {
            throw UsageError("\(path) cannot be read")
        }
        return Array(bytes)
    }

    private static func instant(_ arguments: Arguments) throws(UsageError) -> UnixTime {
        guard let text = arguments.value("--at") else { return SystemClock.now }
        guard let instant = UnixTime(iso8601: text) else {
            throw UsageError("--at takes an instant as 2026-11-30T12:00:00Z, not \(text)")
        }
        return instant
    }
}
