public import JSON

/// Why a directive cannot be read, with what the answer to it has to repeat.
public struct DirectiveRejection: Error, Hashable, Sendable {
    /// What is wrong.
    public enum Reason: Hashable, Sendable {
        /// There is no `directive`: it is no smart-home message at all.
        case notADirective
        /// The member at that path is missing or of the wrong kind.
        case malformed(path: String)
        /// The object at that path has two members of one name, so that two readers could disagree.
        case repeatedMember(path: String)
        /// Another `payloadVersion` than "3".
        case payloadVersion
        /// No interface that we know takes a directive of that name.
        case unknown
        /// The arguments do not fit the directive.
        case payload(ShapeFault)
    }

    /// What is wrong.
    public let reason: Reason
    /// What the answer repeats.
    public let echo: DirectiveEcho

    /// A rejection.
    public init(_ reason: Reason, echo: DirectiveEcho) {
        self.reason = reason
        self.echo = echo
    }

    /// The stable reason code, for logs, traces and metrics.
    public var reasonCode: String {
        switch reason {
        case .notADirective: "directive.missing"
        case .malformed: "directive.malformed"
        case .repeatedMember: "directive.repeatedMember"
        case .payloadVersion: "directive.payloadVersion"
        case .unknown: "directive.unknown"
        case .payload(let fault):
            switch fault.kind {
            case .outOfRange: "directive.valueOutOfRange"
            case .notOneOf: "directive.value"
            case .missing, .kind, .length, .pattern, .repeated, .unexpected: "directive.payload"
            }
        }
    }

    /// What the operator needs besides the code; nothing in it is secret.
    public var detail: String? {
        switch reason {
        case .malformed(let path), .repeatedMember(let path): path
        case .payload(let fault): fault.below("directive.payload").description
        case .notADirective, .payloadVersion, .unknown: nil
        }
    }

    /// What Alexa is told.
    public var errorType: SmartHomeErrorType {
        guard case .payload(let fault) = reason else { return .invalidDirective }
        switch fault.kind {
        case .outOfRange: return .valueOutOfRange
        case .notOneOf: return .invalidValue
        case .missing, .kind, .length, .pattern, .repeated, .unexpected: return .invalidDirective
        }
    }

    /// What the answer carries besides type and message: the range that a value is not in.
    public var errorDetails: JSONObject {
        guard case .payload(let fault) = reason, case .outOfRange(let minimum, let maximum) = fault.kind else {
            return [:]
        }
        return ["validRange": ["minimumValue": .number(minimum), "maximumValue": .number(maximum)]]
    }
}

/// What an answer repeats of the directive that it answers.
public struct DirectiveEcho: Hashable, Sendable {
    /// The directive's namespace, since some have errors of their own.
    public var namespace: String?
    /// The directive's correlation token.
    public var correlationToken: String?
    /// The endpoint that the directive is for.
    public var endpointID: String?

    /// What an answer repeats.
    public init(namespace: String? = nil, correlationToken: String? = nil, endpointID: String? = nil) {
        self.namespace = namespace
        self.correlationToken = correlationToken
        self.endpointID = endpointID
    }
}
