import Alexa
import Crypto
import FoundationEssentials
import HTTP
import JSON
import OAuth
import Service
import Time

/// The checks that call other servers: all at once, each with a few seconds, nothing is changed anywhere.
struct DoctorOnline: Sendable {
    private let configuration: Configuration
    private let http: any HTTPClient
    private let clock: WallClock

    private static let patience = Duration.seconds(6)
    /// How long Alexa waits for tokens.
    private static let tokenPatience = Duration.milliseconds(4500)
    /// How far a clock may be off: requests are refused from 150 s on, codes and tokens live by it.
    private static let clockSeconds: Int64 = 30

    /// What all of them found, in an order that does not depend on who answered first.
    static func findings(_ configuration: Configuration) async -> [DoctorFinding] {
        do {
            return try await Program.call(configuration) { http in
                await DoctorOnline(
                    configuration: configuration, http: http,
                    clock: SystemClock.clock(offsetSeconds: configuration.clockOffsetSeconds)
                ).run()
            }
        } catch {
            return [DoctorFinding(check: "online.reach", level: .fault, message: "nothing can be called: \(error)")]
        }
    }

    private func run() async -> [DoctorFinding] {
        var jobs: [@Sendable () async -> [DoctorFinding]] = addresses.map { key, url in { await reach(key, url) } }
        for (key, client) in pairs { jobs.append { await login(key, client) } }
        jobs.append { await publicURL() }
        if case .external(let external) = configuration.provider.kind {
            if let url = external.jwksURL { jobs.append { await keys(url) } }
            if let url = external.resourcesURL { jobs.append { await user(url) } }
        } else {
            jobs.append { await tokenEndpoint("provider.embedded", configuration.publicURL + "/oauth/token") }
        }
        let all = jobs
        return await withTaskGroup(of: (Int, [DoctorFinding]).self) { group in
            for (index, job) in all.enumerated() { group.addTask { (index, await job()) } }
            var found: [Int: [DoctorFinding]] = [:]
            for await (index, findings) in group { found[index] = findings }
            return all.indices.flatMap { found[$0] ?? [] }
        }
    }

    // MARK: - Whom to call

    /// Servers that have to be there, by the key that names them.
    private var addresses: [(key: String, url: String)] {
        let amazon = configuration.amazon
        var addresses = [
            ("amazon.endpoints.lwaToken", amazon.lwaTokenURL), ("certificates", "https://s3.amazonaws.com/echo.api/"),
        ]
        for (region, url) in amazon.apiURLs.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            addresses.append(("amazon.endpoints.api.\(region.rawValue)", url))
        }
        if case .external(let external) = configuration.provider.kind {
            let named = [
                ("introspection.url", external.introspection?.url), ("code.url", external.code?.url),
                ("revocation.url", external.revocation?.url),
                ("login.authorizationURL", external.login?.authorizationURL),
                ("login.tokenURL", external.login?.tokenURL),
            ]
            for (key, url) in named { if let url { addresses.append(("provider.external." + key, url)) } }
        }
        return addresses
    }

    private var pairs: [(key: String, client: AmazonClient)] {
        configuration.skills.enumerated().flatMap { index, skill in
            [
                skill.linking.map {
                    ("skills[\(index)].linking", AmazonClient(id: $0.clientID, secret: $0.clientSecret))
                },
                skill.events.map {
                    ("skills[\(index)].events", AmazonClient(id: $0.clientID, secret: $0.clientSecret))
                },
            ].compactMap(\.self)
        }
    }

    // MARK: - What is looked at

    private func send(_ request: OutgoingRequest) async -> Result<HTTPResponse, HTTPClientError> {
        do throws(HTTPClientError) {
            return .success(try await http.send(request, by: .after(Self.patience, from: .now)))
        } catch { return .failure(error) }
    }

    /// Any answer is one: the name resolves, TLS holds, somebody is there.
    ///
    /// The clock is compared by its date.
    private func reach(_ key: String, _ url: String) async -> [DoctorFinding] {
        let response: HTTPResponse
        switch await send(OutgoingRequest(method: .get, url: url)) {
        case .failure(let error):
            return [
                fault(
                    "online.reach", key, "\(url): \(ReplayTarget.text(of: error))",
                    "let this machine resolve and reach it, and trust its certificate")
            ]
        case .success(let answer): response = answer
        }
        var findings = [good("online.reach", "\(url) is there")]
        if let date = response.fields["Date"].flatMap({ UnixTime(httpDate: $0) }) {
            let off = clock().milliseconds(since: date) / 1000
            if abs(off) > Self.clockSeconds {
                findings.append(
                    fault(
                        "online.clock", key, "this machine's clock is \(off) s off that of \(url)",
                        "set the clock by NTP: from 150 s on every request is refused"))
            }
        }
        return findings
    }

    /// A code that nobody gave out: a known pair is told that the code is bad, an unknown one that the pair is.
    private func login(_ key: String, _ client: AmazonClient) async -> [DoctorFinding] {
        let amazon = LoginWithAmazon(
            http: http, tokenURL: configuration.amazon.lwaTokenURL, monotonic: { ContinuousClock.now })
        do throws(LoginWithAmazonError) {
            _ = try await amazon.exchange(
                code: AmazonCode(Secret("skillgate-doctor")), client: client, by: .after(Self.patience, from: .now))
            return [
                warning("online.pair", key, "Login with Amazon takes a code that nobody gave out", "look whom you call")
            ]
        } catch {
            switch error {
            case .refused(.invalidClient, _), .refused(.unauthorizedClient, _):
                return [
                    fault(
                        "online.pair", key + ".clientSecret", "Login with Amazon does not know this pair",
                        "copy id and secret from the console; a secret that was renewed there ends the old one")
                ]
            case .refused: return [good("online.pair", "Login with Amazon knows the pair of \(key)")]
            default:
                return [
                    warning(
                        "online.pair", key, "Login with Amazon does not say whether it knows the pair",
                        "try again later")
                ]
            }
        }
    }

    /// A POST route that answers GET with 405 and our own problem: whoever else is there does not.
    private func publicURL() async -> [DoctorFinding] {
        let url = configuration.publicURL + "/alexa/custom"
        switch await send(OutgoingRequest(method: .get, url: url)) {
        case .failure(let error):
            return [
                fault(
                    "online.public", "publicURL", "\(url): \(ReplayTarget.text(of: error))",
                    "start the service, and look at name, port, certificate and proxy")
            ]
        case .success(let answer):
            let code = (try? JSONValue(parsing: answer.body))?["code"]?.string
            guard answer.status == 405, code == "http.methodNotAllowed" else {
                return [
                    fault(
                        "online.public", "publicURL", "\(url) is answered by something else: status \(answer.status)",
                        "let the name lead to this service, with every path and method")
                ]
            }
            return [good("online.public", "publicURL leads back to this service")]
        }
    }

    private func tokenEndpoint(_ key: String, _ url: String) async -> [DoctorFinding] {
        let begin = ContinuousClock.now
        var request = OutgoingRequest(method: .post, url: url, body: [])
        request.fields["Content-Type"] = "application/x-www-form-urlencoded"
        guard case .success(let answer) = await send(request), (400...499).contains(answer.status) else {
            return [
                fault(
                    "online.tokens", key, "\(url) does not refuse an empty request as a token endpoint does",
                    "let it be reached: Alexa redeems codes there")
            ]
        }
        let time = begin.duration(to: .now)
        return time < Self.tokenPatience
            ? [good("online.tokens", "the token endpoint answers in time")]
            : [fault("online.tokens", key, "the token endpoint takes \(time)", "Alexa waits 4.5 s: look what keeps it")]
    }

    private func keys(_ url: String) async -> [DoctorFinding] {
        guard case .success(let answer) = await send(OutgoingRequest(method: .get, url: url)), answer.status == 200,
            let set = try? JSONWebKeySet(parsing: answer.body), !set.keys.isEmpty
        else {
            return [
                fault(
                    "online.keys", "provider.external.jwksURL", "\(url) holds no keys that can be used",
                    "name the address of the JSON Web Key Set")
            ]
        }
        return [good("online.keys", "\(set.keys.count) keys are published")]
    }

    /// Without a token a resource server refuses; a page or a redirect is something else.
    private func user(_ base: String) async -> [DoctorFinding] {
        let url = base + "/me"
        switch await send(OutgoingRequest(method: .get, url: url)) {
        case .success(let answer) where answer.status == 401 || answer.status == 403:
            return [good("online.user", "\(url) refuses a call without a token")]
        case .success(let answer):
            return [
                warning(
                    "online.user", "provider.external.resources.baseURL",
                    "\(url) answers \(answer.status) to a call without a token", "it should answer 401")
            ]
        case .failure(let error):
            return [
                fault(
                    "online.user", "provider.external.resources.baseURL", "\(url): \(ReplayTarget.text(of: error))",
                    "let this machine reach it")
            ]
        }
    }

    // MARK: - Lines

    private func good(_ check: String, _ message: String) -> DoctorFinding {
        DoctorFinding(check: check, level: .ok, message: message)
    }

    private func warning(_ check: String, _ key: String, _ message: String, _ mend: String) -> DoctorFinding {
        DoctorFinding(check: check, key: key, level: .warning, message: message, mend: mend)
    }

    private func fault(_ check: String, _ key: String, _ message: String, _ mend: String) -> DoctorFinding {
        DoctorFinding(check: check, key: key, level: .fault, message: message, mend: mend)
    }
}
