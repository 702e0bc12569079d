public import Crypto
public import JSON
public import Time

/// A custom-skill request, decoded.
///
/// Its parts are views of the document: a member of another kind than expected reads as absent, and what no property
/// names is still there in the part's `element`.
public struct RequestEnvelope: Sendable {
    /// What proves that Alexa sent it.
    public let proof: VerifiedRequest.Proof
    /// The whole envelope.
    public let root: JSONElement
    /// What every request says of itself.
    public let header: RequestHeader
    /// The request by its type.
    public let request: SkillRequest

    /// Decodes what Alexa is proved to have sent.
    ///
    /// - Throws: ``RequestRejection/malformed(path:)`` where a member that every request has is missing.
    public init(decoding verified: VerifiedRequest) throws(RequestRejection) {
        proof = verified.proof
        root = verified.document.root
        guard let request = root.member("request"), request.kind == .object else {
            throw .malformed(path: "request.type")
        }
        header = try RequestHeader(request)
        self.request = try SkillRequest(header)
    }

    /// The version of the format; always `1.0` so far.
    public var version: String? { root.string("version") }

    /// The session; nil for requests outside one, such as playback and skill events.
    public var session: Session? { root.object("session").map(Session.init) }

    /// What surrounds the request; members are read one by one, so that an odd one costs only itself.
    public var context: RequestContext { RequestContext(element: root.object("context")) }

    /// The skill's id; nil where the request names none.
    public var applicationID: String? { context.applicationID ?? session?.applicationID }

    /// The Alexa user's id, from the context or else the session.
    public var userID: String? { context.user?.userID ?? session?.user?.userID }

    /// Our own token for the user who linked an account; nil where nobody did.
    ///
    /// The context's comes first, then the session's, then that of an account-linked event. The speaker's token is
    /// not among them: it tells a person, not the account.
    public var accessToken: Secret? {
        if let token = context.user?.accessToken ?? session?.user?.accessToken { return token }
        if case .skillEvent(let event) = request, event.kind == .accountLinked { return event.accessToken }
        return nil
    }

    /// The language of the request, `en-US` for example.
    public var locale: String? { header.locale }

    /// What an answer to this request may hold.
    public var permittedAnswer: PermittedAnswer { PermittedAnswer(requestType: header.type) }
}

/// What every request says of itself.
public struct RequestHeader: Sendable {
    /// The type, `IntentRequest` for example.
    public let type: String
    /// The request's id; a request that is delivered again keeps it.
    public let requestID: String
    /// When Alexa sent it.
    public let timestamp: UnixTime
    /// The language; absent for some types.
    public let locale: String?
    /// The whole `request` member.
    public let element: JSONElement

    init(_ element: JSONElement) throws(RequestRejection) {
        self.element = element
        guard let type = element.string("type"), !type.isEmpty else { throw .malformed(path: "request.type") }
        guard let requestID = element.string("requestId") else { throw .malformed(path: "request.requestId") }
        guard let timestamp = element.member("timestamp").flatMap(UnixTime.init(alexaTimestamp:)) else {
            throw .malformed(path: "request.timestamp")
        }
        self.type = type
        self.requestID = requestID
        self.timestamp = timestamp
        locale = element.string("locale")
    }
}

extension JSONElement {
    /// A member that is an object; nil for any other kind.
    func object(_ name: StaticString) -> JSONElement? {
        guard let member = member(name), member.kind == .object else { return nil }
        return member
    }

    /// A member that is text and not empty, kept secret.
    func secret(_ name: StaticString) -> Secret? {
        guard let text = string(name), !text.isEmpty else { return nil }
        return Secret(text)
    }

    /// A member that is ISO 8601 text, or one of the number forms.
    func time(_ name: StaticString) -> UnixTime? { member(name).flatMap(UnixTime.init(alexaTimestamp:)) }
}
