import Crypto
import HTTP
import Time

/// Who uses a browser, in a cookie that it keeps and nobody else can write.
///
/// The cookie names the user, a mark of the credential and the start, so that sessions survive a restart and end with
/// the password that began them. Before sign-in it names nobody, and binds forms to the browser all the same.
struct Sessions: Sendable {
    /// A browser's session.
    struct Session: Sendable, Hashable {
        /// Binds forms to the session; another one after each sign-in.
        let id: String
        /// Who signed in; nil for nobody.
        let subject: String?
        /// A mark of the credential that was given.
        let mark: String
    }

    /// How long a session lasts.
    static let seconds: Int64 = 30 * 86_400
    /// How long a form can be sent.
    static let formSeconds: Int64 = 3600

    let values: SignedValues
    let users: Users
    let clock: WallClock
    private let name: String
    private let isSecure: Bool

    /// Sessions at `issuer`; a prefixed name, which binds the cookie to this very host (RFC 6265bis §4.1.3.2), needs
    /// https.
    init(values: SignedValues, users: Users, issuer: String, clock: @escaping WallClock) {
        self.values = values
        self.users = users
        self.clock = clock
        isSecure = issuer.hasPrefix("https:")
        name = isSecure ? "__Host-skillgate" : "skillgate"
    }

    /// The session of the request; nil where it brings none that is good.
    func session(of request: HTTPRequest) -> Session? {
        for line in request.fields.values("Cookie") {
            for pair in line.split(separator: ";") {
                let pair = pair.drop { $0 == " " }
                guard pair.hasPrefix(name + "=") else { continue }
                if let session = session(String(pair.dropFirst(name.count + 1))) { return session }
            }
        }
        return nil
    }

    private func session(_ text: String) -> Session? {
        guard let content = values.content(of: text, for: .session, at: clock()) else { return nil }
        let parts = content.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3 else { return nil }
        let nobody = Session(id: parts[0], subject: nil, mark: "")
        guard !parts[2].isEmpty else { return nobody }
        // A user who is gone, disabled or has another password by now is signed in no more; the browser is the same.
        guard let user = users[parts[2]], !user.isDisabled, mark(of: user) == parts[1] else { return nobody }
        return Session(id: parts[0], subject: user.subject, mark: parts[1])
    }

    /// A new session, of nobody where no user is given.
    func start(_ user: Users.User? = nil) -> Session {
        Session(id: SecureRandom.token(bytes: 16), subject: user?.subject, mark: user.map { mark(of: $0) } ?? "")
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

    /// Ends the sessions of a user whose password changed.
    private func mark(of user: Users.User) -> String {
        switch user.credential {
        case .password(let password): values.mark(of: password)
        case .hash(let hash): values.mark(of: hash.phc)
        }
    }
}
