import Concurrency
import Crypto
public import HTTP
public import JSON
public import OAuth
public import Telemetry
public import Time

/// Fetches what the provider's server holds for a user, and hands it the user's commands.
///
/// Every call carries the user's own token, ends within ``Limits`` and by the request's deadline, and takes JSON
/// alone. An answer is kept, for its token only, as long as the provider's `Cache-Control` allows; one that has an
/// `ETag` is asked for again by it (RFC 9110 §13.1.2). A command is sent once, whatever becomes of it.
public final class ResourceClient: Sendable {
    /// What a call may take.
    public struct Limits: Sendable {
        /// The longest that one call may take.
        public var call: Duration
        /// The most that an answer may hold.
        public var answerBytes: Int
        /// How deep an answer may be nested.
        public var answerDepth: Int
        /// How many answers are kept.
        public var keptAnswers: Int
        /// The largest of them.
        public var keptAnswerBytes: Int
        /// How many answers larger than that are kept.
        public var keptLargeAnswers: Int
        /// The largest answer that is kept at all.
        public var keptLargeAnswerBytes: Int

        /// The limits of the design, unless said otherwise.
        public init(
            call: Duration = .seconds(4), answerBytes: Int = 1 << 20, answerDepth: Int = 64,
            keptAnswers: Int = 1000, keptAnswerBytes: Int = 16 << 10, keptLargeAnswers: Int = 64,
            keptLargeAnswerBytes: Int = 256 << 10
        ) {
            self.call = call
            self.answerBytes = answerBytes
            self.answerDepth = answerDepth
            self.keptAnswers = keptAnswers
            self.keptAnswerBytes = keptAnswerBytes
            self.keptLargeAnswers = keptLargeAnswers
            self.keptLargeAnswerBytes = keptLargeAnswerBytes
        }
    }

    private let baseURL: String
    private let http: any HTTPClient
    private let limits: Limits
    private let observer: (any TraceObserver)?
    private let now: @Sendable () -> ContinuousClock.Instant
    private let kept: Locked<KeptAnswers>

    /// A client of the server at `baseURL`.
    ///
    /// - Parameters:
    ///   - baseURL: the address that every path is appended to, without a final slash.
    ///   - http: what sends the requests.
    ///   - limits: what a call may take.
    ///   - observer: hears of each call; nil but in development.
    ///   - now: the monotonic clock.
    public init(
        baseURL: String, http: any HTTPClient, limits: Limits = Limits(), observer: (any TraceObserver)? = nil,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    ) {
        self.baseURL = baseURL.hasSuffix("/") ? String(baseURL.dropLast()) : baseURL
        self.http = http
        self.limits = limits
        self.observer = observer
        self.now = now
        kept = Locked(KeptAnswers(limits))
    }

    /// The resource at `path` for the user that `principal` stands for.
    ///
    /// - Parameters:
    ///   - path: the path below the base address, with its query, percent-encoded, beginning with `/`.
    ///   - principal: whose token the call carries.
    ///   - deadline: when the answer to the request must have left.
    ///   - answerBytes: the most that the answer may hold; nil is what the limits say.
    /// - Returns: the answer's JSON.
    /// - Throws: ``ResourceFailure`` where there is no such resource in time.
    public func resource(
        _ path: String, for principal: Principal, by deadline: Deadline, answerBytes: Int? = nil
    ) async throws(ResourceFailure) -> JSONDocument {
        let key = KeptAnswers.Key(principal.token, path)
        if let document = keptDocument(key) { return document }
        return try await fetch(key, for: principal, by: deadline, answerBytes: answerBytes)
    }

    /// The resources at several paths, fetched side by side.
    ///
    /// - Parameters:
    ///   - paths: the path of each resource, by its name.
    ///   - principal: whose token the calls carry.
    ///   - deadline: when the answer to the request must have left.
    /// - Returns: the answers' JSON by the same names.
    /// - Throws: the first ``ResourceFailure``; the other calls are cancelled.
    public func resources(
        _ paths: [(name: String, path: String)], for principal: Principal, by deadline: Deadline
    ) async throws(ResourceFailure) -> [String: JSONDocument] {
        var found: [String: JSONDocument] = [:]
        var missing: [(name: String, key: KeptAnswers.Key)] = []
        for (name, path) in paths {
            let key = KeptAnswers.Key(principal.token, path)
            if let document = keptDocument(key) { found[name] = document } else { missing.append((name, key)) }
        }
        if missing.count == 1 {
            found[missing[0].name] = try await fetch(missing[0].key, for: principal, by: deadline)
            return found
        }
        guard !missing.isEmpty else { return found }
        let outcome = await withTaskGroup(
            of: (String, Result<JSONDocument, ResourceFailure>).self,
            returning: Result<[String: JSONDocument], ResourceFailure>.self
        ) { group in
            for (name, key) in missing {
                group.addTask {
                    do throws(ResourceFailure) {
                        return (name, .success(try await self.fetch(key, for: principal, by: deadline)))
                    } catch {
                        return (name, .failure(error))
                    }
                }
            }
            var fetched: [String: JSONDocument] = [:]
            for await (name, outcome) in group {
                switch outcome {
                case .success(let document): fetched[name] = document
                case .failure(let failure):
                    group.cancelAll()
                    return .failure(failure)
                }
            }
            return .success(fetched)
        }
        return try found.merging(outcome.get()) { kept, _ in kept }
    }

    /// Sends a command to `path` for the user that `principal` stands for: once, whatever becomes of it.
    ///
    /// - Parameters:
    ///   - path: the path below the base address, percent-encoded, beginning with `/`.
    ///   - body: the command, JSON.
    ///   - fields: further header fields.
    ///   - principal: whose token the call carries.
    ///   - deadline: when the answer to the request must have left.
    /// - Returns: the status, one of 200 to 299, and the answer's JSON.
    /// - Throws: ``ResourceFailure`` where no such answer came in time; the command may have been carried out then.
    public func command(
        _ path: String, body: [UInt8], fields: HTTPFields = [:], for principal: Principal,
        by deadline: Deadline
    ) async throws(ResourceFailure) -> (status: Int, document: JSONDocument) {
        var request = request(path, .post, for: principal)
        request.fields.append("Content-Type", "application/json")
        for field in fields.lines { request.fields.append(field.name, field.value) }
        request.body = body
        let response = try await send(request, by: deadline, from: now())
        return (response.status, try document(response))
    }

    /// Forgets everything that is kept for a user: after unlinking, for example.
    public func forget(subject: String) {
        kept.withLock { $0.remove(subject: subject) }
    }

    /// Forgets what is kept of `path` for the user's token: after a command that changes it (RFC 9111 §4.4).
    public func forget(_ path: String, of principal: Principal) {
        let key = KeptAnswers.Key(principal.token, path)
        kept.withLock { $0.remove(key) }
    }

    private func keptDocument(_ key: KeptAnswers.Key) -> JSONDocument? {
        let now = now()
        return kept.withLock { $0.fresh(key, at: now) }
    }

    private func fetch(
        _ key: KeptAnswers.Key, for principal: Principal, by deadline: Deadline, answerBytes: Int? = nil
    ) async throws(ResourceFailure) -> JSONDocument {
        var request = request(key.path, .get, for: principal)
        if let answerBytes { request.answerLimitBytes = answerBytes }
        let known = kept.withLock { $0.tagged(key) }
        if let known { request.fields.append("If-None-Match", known.tag) }
        let start = now()
        let response = try await send(request, by: deadline, from: start)
        // Age counts from when the answer may have been made, which is not later than when we asked.
        if response.status == 304, let known {
            kept.withLock { $0.confirm(known, for: key, subject: principal.subject, response.fields, at: start) }
            return known.document
        }
        let document = try document(response)
        if response.status == 200 {
            kept.withLock { $0.insert(document, for: key, subject: principal.subject, response, at: start) }
        }
        return document
    }

    private func request(_ path: String, _ method: HTTPMethod, for principal: Principal) -> OutgoingRequest {
        OutgoingRequest(
            method: method, url: baseURL + path,
            fields: [
                "Accept": "application/json", "Authorization": "Bearer " + principal.token.exposed,
            ], answerLimitBytes: limits.answerBytes)
    }

    private func send(
        _ request: OutgoingRequest, by deadline: Deadline, from start: ContinuousClock.Instant
    ) async throws(ResourceFailure) -> HTTPResponse {
        do throws(HTTPClientError) {
            let response = try await http.send(request, by: deadline.limited(to: limits.call, from: start))
            tell(request, "\(response.status)", from: start)
            return response
        } catch {
            tell(request, "\(error)", from: start)
            throw ResourceFailure(error)
        }
    }

    private func tell(_ request: OutgoingRequest, _ outcome: String, from start: ContinuousClock.Instant) {
        guard let observer else { return }
        observer.called(
            "\(request.method.rawValue) \(request.url.dropFirst(baseURL.count))", outcome: outcome,
            duration: start.duration(to: now()))
    }

    private func document(_ response: HTTPResponse) throws(ResourceFailure) -> JSONDocument {
        let contentType = response.fields["Content-Type"] ?? ""
        let failure = ResourceFailure(status: response.status, challenge: response.fields["WWW-Authenticate"])
        guard isJSON(contentType: contentType), let charset = TextCharset(contentType: contentType) else {
            throw failure ?? .notJSON(isJSON(contentType: contentType) ? "unknown charset" : "another media type")
        }
        let document: JSONDocument
        do {
            document = try JSONDocument(parsing: charset.utf8(response.body), maximumDepth: limits.answerDepth)
        } catch {
            throw failure ?? .notJSON(error.reason)
        }
        guard let failure else { return document }
        if let error = DeclaredError(decoding: document.root) { throw .declared(error) }
        throw failure
    }
}
