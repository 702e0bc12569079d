import Crypto
import HTTP
import OAuth
import Time

/// Who uses a browser, in a cookie that it keeps and nobody else can write.
///
/// The cookie names the user, a mark of the credential and the start, so that sessions survive a restart and end with
/// the password that began them. Before sign-in it names nobody, and binds forms to the browser all the same.
struct Sessions: Sendable {
    /// A browser's session.
    struct Session: Sendable {
        /// Binds forms to the session; another one after each sign-in.
        let id: String
        /// Who signed in; nil for nobody.
        let user: Users.User?
        /// A mark of the credential that was given.
        let mark: String

        /// The id of who signed in.
        var subject: String? { user?.subject }
    }

    /// How long a session lasts.
    static let seconds: Int64 = 30 * 86_400
    /// How long a form can be sent.
    static let formSeconds: Int64 = 3600

    let values: SignedValues
    let users: UserDirectory
    let ended: EndedSessions
    let clock: WallClock
    private let name: String
    private let isSecure: Bool

    /// Sessions at `issuer`; a prefixed name, which binds the cookie to this very host (RFC 6265bis §4.1.3.2), needs
    /// https.
    init(
        values: SignedValues, users: UserDirectory, ended: EndedSessions, issuer: String, clock: @escaping WallClock
    ) {
        self.values = values
        self.users = users
        self.ended = ended
        self.clock = clock
        isSecure = issuer.hasPrefix("https:")
        name = isSecure ? "__Host-skillgate" : "skillgate"
    }

    /// The session of the request; nil where it brings none that is good.
    ///
    /// - Throws: `ProviderStoreError` where the user may be one of the store, and it does not answer.
    func session(of request: HTTPRequest) async throws(ProviderStoreError) -> Session? {
        for line in request.fields.values("Cookie") {
            for pair in line.split(separator: ";") {
                let pair = pair.drop { $0 == " " }
                guard pair.hasPrefix(name + "=") else { continue }
                if let session = try await session(String(pair.dropFirst(name.count + 1)), by: request.deadline) {
                    return session
                }
            }
        }
        return nil
    }

    private func session(_ text: String, by deadline: Deadline) async throws(ProviderStoreError) -> Session? {
        guard let content = values.content(of: text, for: .session, at: clock()) else { return nil }
        let parts = content.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3 else { return nil }
        let nobody = Session(id: parts[0], user: nil, mark: "")
        guard !parts[2].isEmpty else { return nobody }
        // A user who is gone, disabled or has another password by now is signed in no more; the browser is the same.
        let user = try await users.current(subject: parts[2], by: deadline)
        guard let user, !user.isDisabled, values.mark(of: user) == parts[1] else { return nobody }
        guard try await !ended.hold(parts[0], by: deadline) else { return nil }
        return Session(id: parts[0], user: user, mark: parts[1])
    }

    /// A new session, of nobody where no user is given.
    func start(_ user: Users.User? = nil) -> Session {
        Session(id: SecureRandom.token(bytes: 16), user: user, mark: user.map { values.mark(of: $0) } ?? "")
    }

    /// The `Set-Cookie` of who signs out: a session of nobody in the place of the request's, which ends.
    func signOut(_ request: HTTPRequest) async throws(ProviderStoreError) -> String {
        if let session = try await session(of: request), session.user != nil {
            try await ended.end(session.id, seconds: Self.seconds, by: request.deadline)
        }
        return cookie(start())
    }

    /// The `Set-Cookie` of a session.
    func cookie(_ session: Session) -> String {
        let value = values.sign(
            "\(session.id)\n\(session.mark)\n\(session.subject ?? "")", for: .session,
            until: clock().adding(seconds: Self.seconds))
        return "\(name)=\(value); Path=/; Max-Age=\(Self.seconds); HttpOnly; SameSite=Lax\(isSecure ? "; Secure" : "")"
    }

    /// The token that a form of that session carries.
    func formToken(_ session: Session) -> String {
        values.sign(session.id, for: .form, until: clock().adding(seconds: Self.formSeconds))
    }

    /// Whether a form with that token was made for the session.
    func isGood(formToken: String?, for session: Session) -> Bool {
        guard let formToken, let id = values.content(of: formToken, for: .form, at: clock()) else { return false }
        return constantTimeEquals(Array(id.utf8), Array(session.id.utf8))
    }
}

extension SignedValues {
    /// A mark of the user's credential: another one ends the sessions that the old one began.
    func mark(of user: Users.User) -> String {
        switch user.credential {
        case .password(let password): mark(of: password)
        case .hash(let hash): mark(of: hash.phc)
        }
    }

    /// A mark of what ends a file user's grants when it changes: the credential, and whether the user is disabled.
    ///
    /// It says whose it is, so that two users with one password have two marks.
    func fileMark(of user: Users.User) -> String {
        mark(of: Secret("\(mark(of: user)).\(user.isDisabled).\(user.subject)"))
    }
}
