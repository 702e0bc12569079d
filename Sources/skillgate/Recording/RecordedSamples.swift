import Alexa
import Crypto
import HTTP
import JSON
import OAuth
import Service
import Simulator
import Time

/// Makes a sample of each request that is recorded, with placeholders for every secret.
struct RecordedSamples: Sendable {
    /// A sample's files.
    struct Files {
        /// What it is about, fit for a file's name.
        let name: String
        let request: JSONValue
        /// Nil where the request's file says what is expected.
        let expected: JSONValue?
    }

    private let configuration: Configuration
    private var template: RequestTemplate

    /// Routes that are called by Alexa, a forwarder, the company's app or its back end.
    ///
    /// Pages live on cookies that are never kept, and what Alexa asks of the provider while it links it asks again when replay plays it.
    private static let paths: Set = [
        Sample.customTarget, Sample.smartHomeTarget, "/alexaurl", "/alexa/link", "/app-flip/authorize",
    ]

    /// What is answered where Login with Amazon takes a grant's code no more.
    private static let spentGrant = "grant.lwaInvalidGrant"

    /// Header lines that are kept as they are.
    private static let plainHeaders = ["Content-Type", "Accept-Language"]

    init(_ configuration: Configuration, revokedGrants: RevokedGrants?, clock: @escaping WallClock) {
        self.configuration = configuration
        let ids = Set(configuration.skills.prefix(1).map(\.id))
        let tokens = RecordedTokens(configuration, revokedGrants: revokedGrants, clock: clock)
        template = RequestTemplate(skillIDs: ids, placeholder: tokens.placeholder)
    }

    /// Whether a request is of a kind that can be replayed.
    static func records(_ request: HTTPRequest) -> Bool {
        paths.contains(String(request.path)) || request.path.hasPrefix("/v1/")
    }

    /// The sample of a request; nil for one that nothing could send again.
    mutating func sample(of exchange: Recorder.Exchange) -> Files? {
        let request = exchange.request
        // A back end's token is made by its own credentials alone.
        if request.path == "/v1/events", request.fields["Authorization"]?.lowercased().hasPrefix("bearer") ?? false {
            return nil
        }
        let body = try? JSONValue(parsing: request.body)
        let sender = Self.sender(exchange)
        if sender != .anyone, exchange.answer.status == 200, request.query == nil, let body {
            let isSpent = String(decoding: exchange.answer.body, as: UTF8.self).contains(Self.spentGrant)
            let made = template.body(body, at: exchange.time, isGrantSpent: isSpent)
            return Files(name: Self.name(request, body), request: made, expected: expectedFile(exchange))
        }
        var step: JSONObject = ["method": .string(request.method.rawValue)]
        if sender != .anyone { step["from"] = .string(sender.rawValue) }
        step["target"] = .string(template.target(request.target))
        step["headers"] = .object(headers(exchange, isProven: sender != .anyone))
        if let body {
            step["body"] = template.body(body, at: exchange.time)
        } else if !request.body.isEmpty {
            step["body"] = .string(RequestTemplate.removed)
        }
        var response: JSONObject = ["status": .integer(Int64(exchange.answer.status))]
        if let type = exchange.answer.fields["Content-Type"] { response["headers"] = ["Content-Type": .string(type)] }
        if let value = try? JSONValue(parsing: exchange.answer.body) {
            let isApp = ["/alexaurl", "/alexa/link"].contains(request.path)
            response["body"] = template.expected(value, at: exchange.time, isApp: isApp)
        }
        let steps: JSONValue = ["steps": [["request": .object(step), "response": .object(response)]]]
        return Files(name: Self.name(request, body), request: steps, expected: nil)
    }

    private mutating func expectedFile(_ exchange: Recorder.Exchange) -> JSONValue {
        if let value = try? JSONValue(parsing: exchange.answer.body) {
            return template.expected(value, at: exchange.time)
        }
        return ["$status": 200, "$body": .string(String(decoding: exchange.answer.body, as: UTF8.self))]
    }

    /// Who proved to have sent a request, so that it is proved anew when it is sent again.
    private static func sender(_ exchange: Recorder.Exchange) -> SampleStep.Sender {
        let request = exchange.request
        guard request.method == .post else { return .anyone }
        switch (String(request.path), exchange.answer.status) {
        case (Sample.customTarget, let status) where ![400, 415].contains(status): return .alexa
        case (Sample.smartHomeTarget, let status)
        where ![401, 415].contains(status) && request.fields[ForwarderVerifier.headerName] != nil:
            return .forwarder
        default: return .anyone
        }
    }

    /// The header lines that matter; of a proof that was refused, only that it was there.
    private func headers(_ exchange: Recorder.Exchange, isProven: Bool) -> JSONObject {
        let request = exchange.request
        var headers = JSONObject()
        for name in Self.plainHeaders { headers[name] = request.fields[name].map { .string($0) } }
        if let value = request.fields["Authorization"] {
            let isWrongPair = exchange.answer.status == 401 && value.lowercased().hasPrefix("basic")
            headers["Authorization"] = .string(
                isWrongPair ? "Basic cmVtb3ZlZDpyZW1vdmVk" : template.authorization(value))
        }
        guard !isProven else { return headers }
        headers["SignatureCertChainUrl"] = request.fields["SignatureCertChainUrl"].map { .string($0) }
        for name in ["Signature-256", "Signature"] {
            // The same length as a signature, and no signature of anything.
            headers[name] = request.fields[name].map { .string(String(repeating: "A", count: $0.utf8.count)) }
        }
        if request.fields[ForwarderVerifier.headerName] != nil {
            headers[ForwarderVerifier.headerName] = "t=0,v1=00"
        }
        return headers
    }

    /// What the request is about.
    private static func name(_ request: HTTPRequest, _ body: JSONValue?) -> String {
        let header = body?["directive"]?["header"]
        let kind = body?["request"]?["intent"]?["name"]?.string ?? body?["request"]?["type"]?.string
        let name =
            header?["name"]?.string.map { "directive-\($0)" } ?? kind.map { "request-\($0)" }
            ?? "\(request.method.rawValue)\(request.path)"
        let kept = name.utf8.prefix(60).map { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"): byte
            default: UInt8(ascii: "-")
            }
        }
        return String(decoding: kept, as: UTF8.self)
    }
}

/// Says of a token which placeholder stands for it: whose it is, and what is wrong with it.
struct RecordedTokens: Sendable {
    private let issuer: String
    private let alexaClients: Set<String>
    private let appClients: Set<String>
    private let usualSubject: String?
    private let isEmbedded: Bool
    private let revokedGrants: RevokedGrants?
    private let clock: WallClock

    init(_ configuration: Configuration, revokedGrants: RevokedGrants?, clock: @escaping WallClock) {
        issuer = configuration.publicURL
        alexaClients = Set(configuration.skills.prefix(1).map(\.providerClient))
        appClients = Set(ReplayTokens.appClients(configuration))
        usualSubject = (try? ReplayTokens.user(named: nil, in: configuration))?.subject
        if case .embedded = configuration.provider.kind { isEmbedded = true } else { isEmbedded = false }
        self.revokedGrants = revokedGrants
        self.clock = clock
    }

    /// The placeholder, or a text that is as little a token as the one that came.
    @Sendable func placeholder(_ token: String) -> String {
        guard let claims = Self.claims(of: token) else { return isEmbedded ? "no-token" : "{{token}}" }
        // The company's own tokens say what they want; which user it was is its business.
        guard isEmbedded else { return "{{token}}" }
        let client = claims["client_id"]?.string ?? ""
        let isApp = appClients.contains(client)
        let name = isApp ? "appToken" : "token"
        var state = TokenState.linked
        if claims["iss"]?.string != issuer || !(isApp || alexaClients.contains(client)) {
            state = .foreign
        } else if let end = claims["exp"]?.integer, end + 60 < clock().seconds {
            state = .expired
        } else if let grant = claims["grant_id"]?.string, revokedGrants?.contains(grant) ?? false {
            state = .revoked
        }
        let subject = claims["sub"]?.string ?? ""
        let isUsual = subject == usualSubject || subject.isEmpty || subject.contains(":") || subject.contains("}")
        if isUsual, state == .linked { return "{{\(name)}}" }
        return "{{\(name):\(state.rawValue)\(isUsual ? "" : ":" + subject)}}"
    }

    private static func claims(of token: String) -> JSONValue? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = Base64URL.decode(parts[1]) else { return nil }
        return try? JSONValue(parsing: bytes)
    }
}
