public import Crypto
public import JSON

/// A smart-home directive, decoded.
public struct Directive: Sendable {
    /// What proves that Alexa sent it.
    public let proof: VerifiedRequest.Proof
    /// What it is.
    public let header: Header
    /// The endpoint that it is for; nil for those that are for none.
    public let endpoint: Endpoint?
    /// Its arguments, always an object.
    public let payload: JSONElement
    /// Who it is for: the scope of the endpoint, or that of the payload where the kind has it there.
    public let scope: Scope?

    /// Our own token, where the kind of directive has it; nil where it is missing or empty.
    public var token: Secret? { scope?.token }

    /// What the answer repeats.
    public var echo: DirectiveEcho {
        DirectiveEcho(
            namespace: header.namespace, correlationToken: header.correlationToken, endpointID: endpoint?.endpointID)
    }

    /// Decodes what Alexa is proved to have sent.
    ///
    /// - Throws: what is wrong, with what the answer repeats.
    public init(decoding verified: VerifiedRequest) throws(DirectiveRejection) {
        let root = verified.document.root
        guard let directive = root.object("directive") else {
            throw DirectiveRejection(.notADirective, echo: DirectiveEcho())
        }
        proof = verified.proof
        let echo = DirectiveEcho(
            namespace: directive.object("header")?.string("namespace"),
            correlationToken: directive.object("header")?.string("correlationToken"),
            endpointID: directive.object("endpoint")?.string("endpointId"))
        do throws(DirectiveFault) {
            try refuseRepetition(in: root, "")
            try refuseRepetition(in: directive, "directive")
            header = try Header(directive)
            endpoint = try Endpoint(directive)
            guard let payload = directive.object("payload") else {
                throw DirectiveFault(.malformed(path: "directive.payload"))
            }
            self.payload = payload
            switch (header.namespace, header.name) {
            case ("Alexa.Discovery", "Discover"): scope = try Scope(in: payload, "scope", "directive.payload.scope")
            case ("Alexa.Authorization", "AcceptGrant"):
                scope = try Scope(in: payload, "grantee", "directive.payload.grantee")
            default: scope = endpoint?.scope
            }
        } catch {
            throw DirectiveRejection(error.reason, echo: echo)
        }
    }

    /// What a directive is.
    public struct Header: Sendable {
        /// The interface, `Alexa.PowerController` for example.
        public let namespace: String
        /// The directive's name, `TurnOn` for example.
        public let name: String
        /// The message's id.
        public let messageID: String
        /// What the answer repeats, so that Alexa finds the question.
        public let correlationToken: String?
        /// Which of several like controllers is meant.
        public let instance: String?
        /// The whole `header` member.
        public let element: JSONElement

        fileprivate init(_ directive: JSONElement) throws(DirectiveFault) {
            let path = "directive.header"
            guard let element = directive.object("header") else { throw DirectiveFault(.malformed(path: path)) }
            try refuseRepetition(in: element, path)
            guard element.string("payloadVersion") == "3" else { throw DirectiveFault(.payloadVersion) }
            self.element = element
            namespace = try element.requiredText("namespace", path)
            name = try element.requiredText("name", path)
            messageID = try element.requiredText("messageId", path)
            correlationToken = try element.optionalText("correlationToken", path)
            instance = try element.optionalText("instance", path)
        }
    }

    /// The endpoint that a directive is for.
    public struct Endpoint: Sendable {
        /// Its id, as we gave it at discovery.
        public let endpointID: String
        /// Who asks.
        public let scope: Scope?
        /// The whole `endpoint` member.
        public let element: JSONElement

        /// What we gave at discovery to get back; nil where the member is missing, empty where it is `{}`.
        public var cookie: JSONElement? { element.object("cookie") }

        fileprivate init?(_ directive: JSONElement) throws(DirectiveFault) {
            let path = "directive.endpoint"
            guard let member = directive.member("endpoint"), !member.isNull else { return nil }
            guard member.kind == .object else { throw DirectiveFault(.malformed(path: path)) }
            try refuseRepetition(in: member, path)
            element = member
            endpointID = try member.requiredText("endpointId", path)
            scope = try Scope(in: member, "scope", path + ".scope")
        }
    }

    /// Who a directive is for, by our own token.
    public enum Scope: Hashable, Sendable {
        /// A token.
        case bearerToken(Secret?)
        /// A token and the room or unit that asks.
        case bearerTokenWithPartition(Secret?, partition: String?, userID: String?)
        /// A type of scope that this program does not know.
        case other(type: String?)

        /// Our own token; nil where it is missing or empty.
        public var token: Secret? {
            switch self {
            case .bearerToken(let token), .bearerTokenWithPartition(let token, _, _): token
            case .other: nil
            }
        }

        fileprivate init?(in parent: JSONElement, _ name: StaticString, _ path: String) throws(DirectiveFault) {
            guard let member = parent.member(name), !member.isNull else { return nil }
            guard member.kind == .object else { throw DirectiveFault(.malformed(path: path)) }
            try refuseRepetition(in: member, path)
            switch member.string("type") {
            case "BearerToken": self = .bearerToken(member.secret("token"))
            case "BearerTokenWithPartition":
                self = .bearerTokenWithPartition(
                    member.secret("token"), partition: member.string("partition"), userID: member.string("userId"))
            case let type: self = .other(type: type)
            }
        }
    }
}

/// A directive that hands us a code for sending events.
public struct AcceptGrant: Sendable {
    /// The code, to be exchanged at Login with Amazon with the pair of "Send Alexa Events".
    public let code: Secret
    /// Our own token for the user; nil where it is missing or empty.
    public let granteeToken: Secret?
    /// What the answer repeats.
    public let echo: DirectiveEcho

    /// Reads the payload; nil where the directive is another one.
    ///
    /// - Throws: what is wrong, with what the answer repeats.
    public init?(_ directive: Directive) throws(DirectiveRejection) {
        guard directive.header.namespace == "Alexa.Authorization", directive.header.name == "AcceptGrant" else {
            return nil
        }
        echo = directive.echo
        granteeToken = directive.token
        let path = "directive.payload.grant"
        guard let grant = directive.payload.object("grant") else {
            throw DirectiveRejection(.malformed(path: path), echo: echo)
        }
        guard grant.repeatedMember == nil else { throw DirectiveRejection(.repeatedMember(path: path), echo: echo) }
        guard grant.string("type") == "OAuth2.AuthorizationCode" else {
            throw DirectiveRejection(.malformed(path: path + ".type"), echo: echo)
        }
        guard let code = grant.secret("code") else {
            throw DirectiveRejection(.malformed(path: path + ".code"), echo: echo)
        }
        self.code = code
    }
}

/// A directive that asks for the user's endpoints.
public struct Discover: Sendable {
    /// Our own token for the user; nil where it is missing or empty.
    public let token: Secret?
    /// What the answer repeats.
    public let echo: DirectiveEcho

    /// Reads the directive; nil where it is another one.
    public init?(_ directive: Directive) {
        guard directive.header.namespace == "Alexa.Discovery", directive.header.name == "Discover" else { return nil }
        token = directive.token
        echo = directive.echo
    }
}

/// What is wrong with a part of a directive, before the whole is known.
private struct DirectiveFault: Error {
    let reason: DirectiveRejection.Reason
    init(_ reason: DirectiveRejection.Reason) { self.reason = reason }
}

private func refuseRepetition(in element: JSONElement, _ path: String) throws(DirectiveFault) {
    guard element.repeatedMember == nil else { throw DirectiveFault(.repeatedMember(path: path)) }
}

extension JSONElement {
    fileprivate func requiredText(_ name: StaticString, _ path: String) throws(DirectiveFault) -> String {
        guard let text = string(name), !text.isEmpty else { throw DirectiveFault(.malformed(path: "\(path).\(name)")) }
        return text
    }

    fileprivate func optionalText(_ name: StaticString, _ path: String) throws(DirectiveFault) -> String? {
        guard let member = member(name), !member.isNull else { return nil }
        guard let text = member.string else { throw DirectiveFault(.malformed(path: "\(path).\(name)")) }
        return text
    }
}
