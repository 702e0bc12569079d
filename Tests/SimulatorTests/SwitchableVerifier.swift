import Alexa
import Crypto
import HTTP
import JSON
import Simulator
import Time

/// A verifier of Alexa's requests that can leave out any of its checks, or be too strict.
struct SwitchableVerifier: Sendable {
    enum Fault: String, CaseIterable, Sendable {
        case takesNoSignature, takesNoAddress, readsAnyBase64, verifiesNothing, takesOldHeader, takesSHA1
        case takesAnyScheme, takesAnyHost, findsHostAnywhere, takesAnyPort, takesAnyPath, ignoresPathCase,
            resolvesNoDots
        case resolvesNoEncodedDots
        case takesExpired, takesEarly, takesAnyName, takesAnyUsage, trustsAnyRoot
        case takesOld, takesFuture, takesNoTimestamp, takesAnyOldEvent
        case takesAnySkill, readsSessionSkillAlone, takesAnyBody, takesAnyMethod, takesAnyType, takesAnySize
        case comparesAddressAsText, readsHeadersWithCase, allowsThirtySeconds, allowsEventsNoHour
    }

    let fault: Fault?
    let hosts: AmazonHosts
    let skillID: String
    let clock: WallClock

    private struct Refusal: Error { let status: Int }

    func status(of request: OutgoingRequest) async -> Int {
        do throws(Refusal) {
            try await verify(request)
            return 200
        } catch { return error.status }
    }

    private func require(_ condition: Bool, unless: Fault..., status: Int = 400) throws(Refusal) {
        if let fault, unless.contains(fault) { return }
        if !condition { throw Refusal(status: status) }
    }

    private func verify(_ request: OutgoingRequest) async throws(Refusal) {
        let body = request.body ?? []
        try require(request.method == .post, unless: .takesAnyMethod, status: 405)
        try require(
            field("Content-Type", request)?.hasPrefix("application/json") ?? false, unless: .takesAnyType, status: 415)
        try require(body.count <= 256 * 1024, unless: .takesAnySize, status: 413)
        let url = field("SignatureCertChainUrl", request) ?? ""
        try require(!url.isEmpty, unless: .takesNoAddress)
        let bundle = try await certificates(url.isEmpty ? AlexaSigner.chainFolder + AlexaSigner.chainFile : url)
        try judge(bundle)
        try checkSignature(request, body, bundle[0].publicKey)
        try checkBody(body)
    }

    private func field(_ name: String, _ request: OutgoingRequest) -> String? {
        if fault == .readsHeadersWithCase { return request.fields.lines.first { $0.name == name }?.value }
        return request.fields[name]
    }

    // MARK: - The address

    private func certificates(_ url: String) async throws(Refusal) -> [Certificate] {
        let scheme = url.prefix { $0 != ":" }
        let rest = url.dropFirst(scheme.count + 3)
        let authority = rest.prefix { $0 != "/" }
        var path = String(rest.dropFirst(authority.count))
        if fault == .comparesAddressAsText { try require(url.hasPrefix(AlexaSigner.chainFolder)) }
        try require(scheme.lowercased() == "https", unless: .takesAnyScheme)
        let host = authority.split(separator: "@").last.map { $0.prefix { $0 != ":" } } ?? ""
        if fault == .findsHostAnywhere {
            try require(authority.lowercased().contains("s3.amazonaws.com"))
        } else {
            try require(host.lowercased() == "s3.amazonaws.com", unless: .takesAnyHost)
        }
        let port = authority.split(separator: ":").dropFirst().first
        try require(port == nil || port == "443", unless: .takesAnyPort)
        if fault != .resolvesNoEncodedDots { path = path.replacing("%2e", with: ".") }
        if fault != .resolvesNoDots {
            var kept: [Substring] = []
            for part in path.split(separator: "/") { if part == ".." { _ = kept.popLast() } else { kept.append(part) } }
            path = "/" + kept.joined(separator: "/")
        }
        if fault == .ignoresPathCase { path = path.lowercased() }
        try require(path.hasPrefix("/echo.api/"), unless: .takesAnyPath)
        // A careless verifier would find the certificates wherever it looks.
        let file = path.split(separator: "/").last ?? ""
        let answer = await hosts.respond(
            to: HTTPRequest(
                method: .get, target: "/echo.api/\(file)", fields: ["Host": "s3.amazonaws.com"],
                deadline: .after(.seconds(60), from: .now)))
        guard answer.status == 200, let bundle = try? Certificate.bundle(pem: answer.body), !bundle.isEmpty else {
            throw Refusal(status: 400)
        }
        return bundle
    }

    // MARK: - The certificates

    private func judge(_ bundle: [Certificate]) throws(Refusal) {
        let now = clock()
        let leaf = bundle[0]
        try require(now <= leaf.notAfter, unless: .takesExpired)
        try require(now >= leaf.notBefore, unless: .takesEarly)
        try require(leaf.dnsNames.contains(RequestChecks.certificateName), unless: .takesAnyName)
        try require(leaf.allowsDigitalSignature, unless: .takesAnyUsage)
        guard fault != .trustsAnyRoot else { return }
        guard let anchors = try? hosts.authority.anchors() else { throw Refusal(status: 500) }
        // The dates were judged; who leaves that out must not be saved by the path's own look at them.
        let time = min(max(now, leaf.notBefore), leaf.notAfter)
        try require(anchors.judge(leaf: leaf, intermediates: Array(bundle.dropFirst()), at: time) == .trusted)
    }

    // MARK: - The signature

    private func checkSignature(
        _ request: OutgoingRequest, _ body: [UInt8], _ key: PublicKey
    ) throws(Refusal) {
        guard let text = field("Signature-256", request), !text.isEmpty else {
            if fault == .takesOldHeader, let old = field("Signature", request).flatMap({ Base64.decode($0) }),
                key.isValidSHA1(signature: old, of: body)
            {
                return
            }
            try require(false, unless: .takesNoSignature)
            return
        }
        var bytes = Base64.decode(text)
        if fault == .readsAnyBase64 { bytes = Base64.decode(text.filter { $0 != "?" }) }
        guard let bytes else { throw Refusal(status: 400) }
        let isValid =
            key.isValid(signature: bytes, of: body, algorithm: .rs256)
            || (fault == .takesSHA1 && key.isValidSHA1(signature: bytes, of: body))
        try require(isValid, unless: .verifiesNothing)
    }

    // MARK: - The body

    private func checkBody(_ body: [UInt8]) throws(Refusal) {
        guard let root = try? JSONValue(parsing: body) else {
            try require(false, unless: .takesAnyBody)
            return
        }
        let isEvent = root["request"]?["type"]?.string?.hasPrefix("AlexaSkillEvent.") ?? false
        if let time = root["request"]?["timestamp"]?.string.flatMap({ UnixTime(iso8601: $0) }) {
            let difference = time.milliseconds(since: clock())
            let window: Int64 =
                if isEvent, fault != .allowsEventsNoHour { 3_600_000 } else if fault == .allowsThirtySeconds {
                    30_000
                } else {
                    150_000
                }
            try require(difference <= window, unless: .takesFuture)
            if !(isEvent && fault == .takesAnyOldEvent) { try require(difference >= -window, unless: .takesOld) }
        } else {
            try require(false, unless: .takesNoTimestamp)
        }
        let context = root["context"]?["System"]?["application"]?["applicationId"]?.string
        let session = root["session"]?["application"]?["applicationId"]?.string
        if fault == .readsSessionSkillAlone {
            try require((session ?? context) == skillID)
        } else {
            try require(context == skillID, unless: .takesAnySkill)
        }
    }
}
