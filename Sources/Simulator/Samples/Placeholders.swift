public import Crypto
import HTTP
import JSON
public import Time

/// What a sample's token is worth.
public enum TokenState: String, Sendable, CaseIterable {
    /// Good: the user has linked the account.
    case linked
    /// There is none: members that hold `{{token}}` are left out.
    case unlinked
    /// Its time is over.
    case expired
    /// Its grant was revoked.
    case revoked
    /// It was issued to another client.
    case foreign
}

/// What is put in the place of a sample's placeholders.
public struct Placeholders: Sendable {
    /// What the placeholders of linking stand for; a sample of another kind needs none of them.
    public struct Linking: Sendable {
        /// A token of that state as the company's app holds it, for a user by subject, or for the usual one.
        public var appToken: @Sendable (TokenState, String?) throws(SampleError) -> Secret
        /// The address that a user is sent back to who agrees at `url`, or is sent back with `error`.
        public var consent: @Sendable (_ url: String, _ error: String?) throws(SampleError) -> String

        /// Both.
        public init(
            appToken: @escaping @Sendable (TokenState, String?) throws(SampleError) -> Secret,
            consent: @escaping @Sendable (_ url: String, _ error: String?) throws(SampleError) -> String
        ) {
            self.appToken = appToken
            self.consent = consent
        }
    }

    private let skillID: String
    private let tokenState: TokenState
    private let token: @Sendable (TokenState) throws(SampleError) -> Secret
    private let tokenOf: (@Sendable (TokenState, _ subject: String) throws(SampleError) -> Secret)?
    private let grantCode: @Sendable () throws(SampleError) -> String
    private let spentGrantCode: @Sendable () throws(SampleError) -> String
    private let basic: @Sendable (_ client: String) throws(SampleError) -> String
    private let linking: Linking?

    /// The values of placeholders.
    ///
    /// - Parameters:
    ///   - skillID: for `{{skillID}}`.
    ///   - tokenState: what `{{token}}` without a state means.
    ///   - token: a token of that state; it is not asked for ``TokenState/unlinked``.
    ///   - tokenOf: for `{{token:STATE:SUBJECT}}`, a token of another user.
    ///   - grantCode: a code that Login with Amazon takes once.
    ///   - spentGrantCode: for `{{grantCode:spent}}`, a code that Login with Amazon took already.
    ///   - basic: for `{{basic:CLIENT}}`, the client's id and secret as HTTP Basic has them, without the scheme.
    ///   - linking: for `{{appToken}}`, `{{consent:NAME}}` and `{{consentCode:NAME}}`.
    public init(
        skillID: String, tokenState: TokenState = .linked,
        token: @escaping @Sendable (TokenState) throws(SampleError) -> Secret,
        tokenOf: (@Sendable (TokenState, _ subject: String) throws(SampleError) -> Secret)? = nil,
        grantCode: @escaping @Sendable () throws(SampleError) -> String,
        spentGrantCode: @escaping @Sendable () throws(SampleError) -> String = { () throws(SampleError) in
            throw SampleError(message: "{{grantCode:spent}} has no value here")
        },
        basic: @escaping @Sendable (_ client: String) throws(SampleError) -> String = { client throws(SampleError) in
            throw SampleError(message: "{{basic:\(client)}} has no value here")
        }, linking: Linking? = nil
    ) {
        self.skillID = skillID
        self.tokenState = tokenState
        self.token = token
        self.tokenOf = tokenOf
        self.grantCode = grantCode
        self.basic = basic
        self.spentGrantCode = spentGrantCode
        self.linking = linking
    }

    /// The body to send: the template with every placeholder replaced, and not a byte changed else.
    ///
    /// - Throws: ``SampleError`` where a placeholder is unknown, or has no value here.
    public func body(of sample: Sample, now: UnixTime) throws(SampleError) -> [UInt8] {
        Array(try text(withoutTokens(sample), of: sample.name, now: now).utf8)
    }

    /// Any text of a sample with its placeholders replaced.
    ///
    /// - Parameters:
    ///   - template: the text.
    ///   - name: the sample's name, for what is thrown.
    ///   - now: for `{{now}}`.
    ///   - captured: for `{{captured:NAME}}`, what earlier answers held where `$capture:NAME` is expected.
    /// - Returns: the text to send.
    /// - Throws: ``SampleError`` where a placeholder is unknown, or has no value here.
    public func text(
        _ template: String, of name: String, now: UnixTime, captured: [String: String] = [:]
    ) throws(SampleError) -> String {
        var rest = template[...]
        var text = ""
        while let start = rest.firstRange(of: "{{") {
            guard let end = rest[start.upperBound...].firstRange(of: "}}") else {
                throw SampleError(message: "\(name): a placeholder does not end")
            }
            text += rest[..<start.lowerBound]
            text += try value(of: rest[start.upperBound..<end.lowerBound], in: name, now, captured)
            rest = rest[end.upperBound...]
        }
        return text + rest
    }

    private func value(
        of placeholder: Substring, in name: String, _ now: UnixTime, _ captured: [String: String]
    ) throws(SampleError) -> String {
        let parts = placeholder.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        switch (parts[0], parts.count) {
        case ("now", 1): return now.iso8601()
        case ("uuid", 1): return SecureRandom.uuid()
        case ("skillID", 1): return skillID
        // What a recorded text has itself.
        case ("braces", 1): return "{{"
        case ("grantCode", 1): return try grantCode()
        case ("grantCode", 2) where parts[1] == "spent": return try spentGrantCode()
        case ("token", 1...3), ("appToken", 1...3):
            if let token = try token(parts, name) { return token.exposed }
        case ("basic", 2): return try basic(parts[1])
        case ("captured", 2): return try value(parts[1], captured, name)
        case ("consent", 2...3): return try consent(parts, captured, name)
        case ("consentCode", 2):
            let url = try consent(parts, captured, name)
            guard let query = url.split(separator: "?").last, let code = Form(decoding: query)?["code"] else {
                throw SampleError(message: "\(name): {{\(placeholder)}}: no code came back")
            }
            return code
        default: break
        }
        throw SampleError(message: "\(name): {{\(placeholder)}} is no placeholder")
    }

    private func token(_ parts: [String], _ name: String) throws(SampleError) -> Secret? {
        var state = tokenState
        if parts.count > 1 {
            guard let given = TokenState(rawValue: parts[1]), given != .unlinked else { return nil }
            state = given
        }
        let subject = parts.count > 2 ? parts[2] : nil
        if parts[0] == "appToken" {
            guard let linking else { throw SampleError(message: "\(name): {{appToken}} has no value here") }
            return try linking.appToken(parts.count > 1 ? state : .linked, subject)
        }
        guard let subject else { return try token(state) }
        guard let tokenOf else { throw SampleError(message: "\(name): {{token}} of another user has no value here") }
        return try tokenOf(state, subject)
    }

    private func consent(
        _ parts: [String], _ captured: [String: String], _ name: String
    ) throws(SampleError) -> String {
        guard let linking else { throw SampleError(message: "\(name): nobody plays Amazon's consent here") }
        return try linking.consent(try value(parts[1], captured, name), parts.count > 2 ? parts[2] : nil)
    }

    private func value(_ key: String, _ captured: [String: String], _ name: String) throws(SampleError) -> String {
        guard let value = captured[key] else {
            throw SampleError(message: "\(name): no answer before this one held \(key)")
        }
        return value
    }

    private func withoutTokens(_ sample: Sample) throws(SampleError) -> String {
        guard tokenState == .unlinked, sample.template.contains("{{token}}") else { return sample.template }
        guard let value = try? JSONValue(parsing: Array(sample.template.utf8)) else { return sample.template }
        return String(decoding: dropping(value).encoded(), as: UTF8.self)
    }

    private func dropping(_ value: JSONValue) -> JSONValue {
        switch value {
        case .object(let object):
            var kept = JSONObject()
            for (name, member) in object where member != "{{token}}" { kept[name] = dropping(member) }
            return .object(kept)
        case .array(let elements): return .array(elements.map(dropping))
        default: return value
        }
    }
}
