import Concurrency
import Crypto
public import HTTP
public import JSON
public import OAuth
public import Time

/// Fetches what the provider's server holds for a user.
///
/// Every call carries the user's own token, ends within ``Limits`` and by the request's deadline, and takes JSON
/// alone. An answer is kept, for its token only, as long as the provider's `Cache-Control` allows.
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
        /// The largest answer that is kept.
        public var keptAnswerBytes: Int

        /// The limits of the design, unless said otherwise.
        public init(
            call: Duration = .seconds(4), answerBytes: Int = 1 << 20, answerDepth: Int = 64,
            keptAnswers: Int = 1000, keptAnswerBytes: Int = 16 << 10
        ) {
            self.call = call
            self.answerBytes = answerBytes
            self.answerDepth = answerDepth
            self.keptAnswers = keptAnswers
            self.keptAnswerBytes = keptAnswerBytes
        }
    }

    private struct Key: Hashable {
        let tokenHash: [UInt8]
        let path: String
    }

    private struct Kept {
        let subject: String
        let document: JSONDocument
        let until: ContinuousClock.Instant
    }

    private let baseURL: String
    private let http: any HTTPClient
    private let limits: Limits
    private let now: @Sendable () -> ContinuousClock.Instant
    private let kept: Locked<BoundedCache<Key, Kept>>

    /// A client of the server at `baseURL`.
    ///
    /// - Parameters:
    ///   - baseURL: the address that every path is appended to, without a final slash.
    ///   - http: what sends the requests.
    ///   - limits: what a call may take.
    ///   - now: the monotonic clock.
    public init(
        baseURL: String, http: any HTTPClient, limits: Limits = Limits(),
        now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    ) {
        self.baseURL = baseURL.hasSuffix("/") ? String(baseURL.dropLast()) : baseURL
        self.http = http
        self.limits = limits
        self.now = now
        kept = Locked(BoundedCache(capacity: limits.keptAnswers))
    }

    /// The resource at `path` for the user that `principal` stands for.
    ///
    /// - Parameters:
    ///   - path: the path below the base address, with its query, percent-encoded, beginning with `/`.
    ///   - principal: whose token the call carries.
    ///   - deadline: when the answer to the request must have left.
    /// - Returns: the answer's JSON.
    /// - Throws: ``ResourceFailure`` where there is no such resource in time.
    public func resource(
        _ path: String, for principal: Principal, by deadline: Deadline
    ) async throws(ResourceFailure) -> JSONDocument {
        let key = Key(tokenHash: SHA256.digest(principal.token.exposed), path: path)
        if let document = keptDocument(key) { return document }
        return try await fetch(key, for: principal, by: deadline)
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
        let tokenHash = SHA256.digest(principal.token.exposed)
        var found: [String: JSONDocument] = [:]
        var missing: [(name: String, key: Key)] = []
        for (name, path) in paths {
            let key = Key(tokenHash: tokenHash, path: path)
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

    /// Forgets everything that is kept for a user: after unlinking, for example.
    public func forget(subject: String) {
        kept.withLock { $0.removeAll { _, answer in answer.subject == subject } }
    }

    private func keptDocument(_ key: Key) -> JSONDocument? {
        let now = now()
        return kept.withLock { kept in
            guard let answer = kept.value(for: key) else { return nil }
            if answer.until > now { return answer.document }
            kept.remove(key)
            return nil
        }
    }

    private func fetch(
        _ key: Key, for principal: Principal, by deadline: Deadline
    ) async throws(ResourceFailure) -> JSONDocument {
        let request = OutgoingRequest(
            url: baseURL + key.path,
            fields: [
                "Accept": "application/json", "Authorization": "Bearer " + principal.token.exposed,
            ], answerLimitBytes: limits.answerBytes)
        let start = now()
        let response: HTTPResponse
        do {
            response = try await http.send(request, by: deadline.limited(to: limits.call, from: start))
        } catch { throw ResourceFailure(error) }
        let document = try document(response)
        // Age counts from when the answer may have been made, which is not later than when we asked.
        if response.status == 200, response.body.count <= limits.keptAnswerBytes,
            let seconds = CachePermission.seconds(response.fields)
        {
            let answer = Kept(
                subject: principal.subject, document: document, until: start.advanced(by: .seconds(seconds)))
            kept.withLock { $0.insert(answer, for: key) }
        }
        return document
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
        if let type = document.root.string("error"), Self.isErrorType(type) { throw .declared(type) }
        throw failure
    }

    /// `ENDPOINT_UNREACHABLE` and its like; anything else, an OAuth error for example, says no more than the status.
    private static func isErrorType(_ text: String) -> Bool {
        (2...64).contains(text.utf8.count) && text.utf8.allSatisfy { (65...90).contains($0) || $0 == 95 }
    }
}
