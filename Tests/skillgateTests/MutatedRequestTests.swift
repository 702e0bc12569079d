import Crypto
import FoundationEssentials
import HTTP
import JSON
import OAuth
import Storage
import Testing
import Time

/// Requests to the provider that were right once, and what must hold however they were changed.
@Suite("Mutated requests for consent and tokens, by the program", .timeLimit(.minutes(5)))
struct MutatedRequestTests {
    static let web = "https://client.example/back?kept=1"
    static let phone = "com.example.app:/back"
    static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    static let webSecret = "the-web-clients-secret"
    static let password = "alice-password"

    /// The addresses of each client: an answer goes to no others.
    static let addresses: [String: [String]] = [
        "web": [web], "phone": [phone], "alexa": [ProviderProgramTests.uri], "back-end": [],
    ]

    static let options: Stage.Options = {
        var options = Stage.Options()
        options.provider = .embedded
        options.clients = """
            { id: "web", secret: "\(webSecret)", scopes: ["profile", "devices"], redirectURIs: ["\(web)"] },
            { id: "phone", authentication: ["none"], scopes: ["profile"], redirectURIs: ["\(phone)"] },
            """
        return options
    }()

    static func send(_ bytes: [UInt8], to service: RunningService) async throws -> RawClient.Answer? {
        try await onOwnThread { [port = service.port] in
            let client = try RawClient(port: port)
            client.send(bytes)
            return client.answer()
        }
    }

    static func request(
        _ method: String, _ target: [UInt8], _ fields: [String] = [], body: [UInt8]? = nil
    ) -> [UInt8] {
        var lines = fields
        if let body {
            lines += ["Content-Type: application/x-www-form-urlencoded", "Content-Length: \(body.count)"]
        }
        let head = ["", "Host: 127.0.0.1"] + lines + ["", ""]
        return Array("\(method) ".utf8) + target + Array((" HTTP/1.1" + head.joined(separator: "\r\n")).utf8)
            + (body ?? [])
    }

    // MARK: /oauth/authorize

    /// A browser's cookie, and the page that it was shown last.
    struct Visitor {
        var cookie = ""
        var page = ""

        var fields: [String] { cookie.isEmpty ? [] : ["Cookie: " + cookie] }

        mutating func take(_ answer: RawClient.Answer) {
            if let set = answer.fields["Set-Cookie"] { cookie = String(set.prefix { $0 != ";" }) }
            page = answer.text
        }

        /// What the page's form carries unseen.
        var hidden: [(String, String)] {
            page.split(separator: "<input type=\"hidden\" ").dropFirst().compactMap { part in
                let words = part.split(separator: "\"", omittingEmptySubsequences: false)
                return words.count > 3 ? (String(words[1]), String(words[3])) : nil
            }
        }
    }

    static let webRequest = [
        ("response_type", "code"), ("client_id", "web"), ("redirect_uri", web), ("scope", "profile"), ("state", "s-1"),
    ]
    static let phoneRequest = [
        ("response_type", "code"), ("client_id", "phone"), ("redirect_uri", phone), ("state", "s/ü"),
        ("code_challenge", challenge), ("code_challenge_method", "S256"),
    ]

    static let path = Array("/oauth/authorize".utf8)

    static func visitor(_ service: RunningService, isSignedIn: Bool) async throws -> Visitor {
        var visitor = Visitor()
        let target = path + [UInt8(ascii: "?")] + MutableForm(webRequest).bytes
        visitor.take(try #require(try await send(request("GET", target), to: service)))
        guard isSignedIn else { return visitor }
        let form = MutableForm(visitor.hidden + [("username", "alice"), ("password", password)])
        let signedIn = try #require(
            try await send(request("POST", path, visitor.fields, body: form.bytes), to: service))
        try #require(signedIn.status == 303)
        visitor.take(signedIn)
        visitor.take(try #require(try await send(request("GET", target, visitor.fields), to: service)))
        try #require(visitor.page.contains("value=\"agree\""))
        return visitor
    }

    /// Whether an answer leads the browser where the request that was sent may lead it.
    static func leadsHome(_ location: String, sent form: MutableForm, carries client: String?) -> Bool {
        guard location.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return false }
        if location.hasPrefix("/oauth/authorize?") { return true }
        let named = form.items.filter { $0.name == Array("client_id".utf8) && !$0.value.isEmpty }
            .compactMap { percentDecoded(String(decoding: $0.value, as: UTF8.self)) }
        let id = client ?? (named.count == 1 ? named[0] : "")
        return (addresses[id] ?? []).contains { address in
            let start = address + (address.contains("?") ? "&" : "?")
            guard location.hasPrefix(start), let query = Form(decoding: location.dropFirst(start.count)) else {
                return false
            }
            let names = query.items.map(\.name)
            return Set(names).count == names.count
                && Set(names).isSubset(of: ["code", "state", "error", "error_description"])
                && names.contains("code") != names.contains("error")
        }
    }
}

extension MutatedRequestTests {
    @Test("no request for consent leads the browser elsewhere, fails the service, or is told a secret")
    func consent() async throws {
        try await Stage.with(Self.options) { stage in
            _ = try await stage.run { service in
                var random = FixedRandom(state: 20_261_201)
                let strangers = try await Self.visitor(service, isSignedIn: false)
                let users = try await Self.visitor(service, isSignedIn: true)
                var counts: [String: Int] = [:]
                for number in 0..<600 {
                    let isSignedIn = Bool.random(using: &random)
                    let visitor = isSignedIn ? users : strangers
                    // What a consent form carries is signed, so the client is the one that it was made for.
                    let (start, isForm, client): ([(String, String)], Bool, String?) =
                        switch Int.random(in: 0..<5, using: &random) {
                        case 0: (Self.webRequest, false, nil)
                        case 1: (Self.phoneRequest, false, nil)
                        case 2: (Self.webRequest, true, nil)
                        case 3 where isSignedIn: (visitor.hidden + [("decision", "agree")], true, "web")
                        case 3: (visitor.hidden + [("username", "nobody"), ("password", Self.password)], true, "web")
                        default: (Self.phoneRequest, true, nil)
                        }
                    var form = MutableForm(start)
                    let changes = (0..<[1, 1, 1, 2, 3].picked(&random)).map { _ in form.mutate(by: &random) }
                    let bytes =
                        isForm
                        ? Self.request("POST", Self.path, visitor.fields, body: form.bytes)
                        : Self.request("GET", Self.path + [UInt8(ascii: "?")] + form.bytes, visitor.fields)
                    let mark =
                        "\(number), \(isSignedIn ? "signed in" : "unknown"), \(changes): \(form.text.prefix(600))"
                    let answer = try #require(try await Self.send(bytes, to: service), "no answer to \(mark)")
                    #expect(answer.status < 500, "\(answer.status) to \(mark)")
                    #expect(answer.isKeptByNobody, "may be kept: \(mark)")
                    if let location = answer.fields["Location"] {
                        #expect(answer.status == 303, "\(answer.status) to \(mark)")
                        // Whoever sent the carried request gone, sent one of its own.
                        let isCarried = form.items.contains { $0.name == Array("request".utf8) }
                        #expect(
                            Self.leadsHome(location, sent: form, carries: isCarried ? client : nil),
                            "led to \(location) by \(mark)")
                        counts[location.hasPrefix("/") ? "here" : "client", default: 0] += 1
                    }
                    for secret in [Self.webSecret, Self.password, "alexa-secret"] {
                        #expect(!answer.text.contains(secret), "told in the answer to \(mark)")
                    }
                    if answer.status >= 400 { #expect(!answer.text.contains("code=")) }
                    counts["\(answer.status)", default: 0] += 1
                }
                // Changes that change nothing would prove nothing, nor would ones that all die at the door.
                for (kind, least) in [("client", 20), ("here", 20), ("200", 40), ("400", 150), ("403", 3)] {
                    #expect(counts[kind, default: 0] >= least, "\(counts)")
                }
                // After all that everybody is served as before.
                _ = try await Self.visitor(service, isSignedIn: true)
            }
        }
    }

    @Test("a near miss of a registered address is never the way back, known user or not", arguments: [false, true])
    func nearMisses(isSignedIn: Bool) async throws {
        try await Stage.with(Self.options) { stage in
            _ = try await stage.run { service in
                let visitor = try await Self.visitor(service, isSignedIn: isSignedIn)
                for (client, address) in [("web", Self.web), ("phone", Self.phone)] {
                    let misses = MutableForm.nearMisses(of: address)
                    #expect(misses.count > 40)
                    for miss in misses {
                        var items = client == "web" ? Self.webRequest : Self.phoneRequest
                        items[2].1 = miss
                        let form = MutableForm(items).bytes
                        for bytes in [
                            Self.request("GET", Self.path + [UInt8(ascii: "?")] + form, visitor.fields),
                            Self.request("POST", Self.path, visitor.fields, body: form),
                        ] {
                            let answer = try #require(try await Self.send(bytes, to: service))
                            #expect(answer.status == 400 && answer.fields["Location"] == nil, "\(client) \(miss)")
                        }
                    }
                }
            }
        }
    }
}

extension MutableForm {
    var text: String { String(decoding: bytes, as: UTF8.self) }
}

extension RawClient.Answer {
    /// Whether no cache and no browser may keep it; the transport's own refusals say nothing that could be kept.
    var isKeptByNobody: Bool {
        fields["Cache-Control"]?.contains("no-store") == true || (status >= 400 && body.isEmpty)
    }
}
