/// What came back from the Alexa app or from Login with Amazon.
public enum LinkRedirect: Hashable, Sendable {
    /// Amazon's code, good for five minutes; `scope` comes from Login with Amazon alone.
    case code(String, state: String, scope: String?)
    /// Amazon's error; ``LinkErrorKind`` says what it means to the user.
    case error(String, description: String?, state: String)

    /// What an address or a query may measure, in bytes.
    public static let maximumLength = 8192

    /// Reads the address that the user came back to, or its query alone.
    ///
    /// - Parameters:
    ///   - text: The whole address, or the query.
    ///   - strict: Whether an unknown parameter, one that comes twice, a scope beside an error and a missing
    ///     `error_description` are refused too, as Amazon's sample for apps does. RFC 6749 §4.1.2 has clients ignore
    ///     what they do not know.
    /// - Throws: ``LinkRedirectFault`` where this is no answer to a request for a code.
    public init(parsing text: String, strict: Bool = false) throws(LinkRedirectFault) {
        guard text.utf8.count <= Self.maximumLength else { throw .tooLong }
        guard let parameters = queryParameters(of: text) else { throw .malformed }
        var values: [String: String] = [:]
        for (name, value) in parameters {
            guard Self.names.contains(name) else {
                if strict { throw .unknown }
                continue
            }
            guard values.updateValue(value, forKey: name) == nil else { throw .repeated(name) }
        }
        try self.init(values, strict: strict)
    }

    /// What must come back unchanged.
    public var state: String {
        switch self {
        case .code(_, let state, _), .error(_, _, let state): state
        }
    }

    /// Whether `url` is `redirectURI` with an answer added to its query.
    public static func isReturn(_ url: String, to redirectURI: String) -> Bool {
        let address = url.utf8.prefix { $0 != UInt8(ascii: "#") }
        guard address.starts(with: redirectURI.utf8) else { return false }
        let delimiter = UInt8(ascii: redirectURI.utf8.contains(UInt8(ascii: "?")) ? "&" : "?")
        return address.dropFirst(redirectURI.utf8.count).first == delimiter
    }

    private static let names: Set = ["code", "state", "scope", "error", "error_description"]

    private init(_ values: [String: String], strict: Bool) throws(LinkRedirectFault) {
        let code = values["code"]
        let error = values["error"]
        if code != nil && error != nil { throw .codeAndError }
        guard code != nil || error != nil else { throw .missing("code") }
        guard let state = values["state"] else { throw .missing("state") }
        guard isPrintable(state) else { throw .empty("state") }
        if let code {
            guard isPrintable(code) else { throw .empty("code") }
            if strict && values["error_description"] != nil { throw .unknown }
            self = .code(code, state: state, scope: values["scope"])
        } else {
            guard let error, isPrintable(error) else { throw .empty("error") }
            let description = values["error_description"]
            if strict && description == nil { throw .missing("error_description") }
            if strict && values["scope"] != nil { throw .unknown }
            self = .error(error, description: description, state: state)
        }
    }
}

/// Why an address holds no answer of Amazon's.
public enum LinkRedirectFault: Error, Hashable, Sendable {
    /// Longer than ``LinkRedirect/maximumLength``.
    case tooLong
    /// A broken escape, or bytes that are no text.
    case malformed
    /// This parameter comes more than once (RFC 6749 §3.1 forbids it).
    case repeated(String)
    /// This parameter is not there.
    case missing(String)
    /// This parameter is empty, or has characters that it may not have.
    case empty(String)
    /// A code and an error at once.
    case codeAndError
    /// A parameter that is not known; refused only where that was asked for.
    case unknown

    /// The stable code of this fault.
    public var reasonCode: String {
        switch self {
        case .tooLong: "link.redirectTooLong"
        case .malformed: "link.redirectMalformed"
        case .repeated: "link.redirectRepeated"
        case .missing: "link.redirectIncomplete"
        case .empty: "link.redirectEmpty"
        case .codeAndError: "link.redirectContradicts"
        case .unknown: "link.redirectUnknown"
        }
    }

    /// What is wrong, for a developer.
    public var detail: String {
        switch self {
        case .tooLong: "it is longer than \(LinkRedirect.maximumLength) bytes"
        case .malformed: "a broken escape, or bytes that are no text"
        case .repeated(let name): "\(name) is given twice"
        case .missing(let name): "\(name) is missing"
        case .empty(let name): "\(name) is empty, or has characters that it may not have"
        case .codeAndError: "there are a code and an error at once"
        case .unknown: "a parameter is not known"
        }
    }
}

/// What an error of Amazon's means to the user.
public enum LinkErrorKind: Hashable, Sendable, CaseIterable {
    /// The user said no, and is shown nothing.
    case declined
    /// The connection with Alexa does not work now; trying later may help.
    case problem
    /// Alexa failed; trying again may help.
    case unexpected
    /// Alexa is briefly unavailable; trying later helps.
    case momentary

    /// What an `error` of the redirect means; one that is not known is a ``problem``.
    public init(redirectError error: String) {
        switch error {
        case "access_denied": self = .declined
        case "server_error": self = .unexpected
        case "temporarily_unavailable": self = .momentary
        default: self = .problem
        }
    }
}
