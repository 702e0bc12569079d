public import Crypto
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
    private let skillID: String
    private let tokenState: TokenState
    private let token: @Sendable (TokenState) throws(SampleError) -> Secret
    private let grantCode: @Sendable () throws(SampleError) -> String
    private let spentGrantCode: @Sendable () throws(SampleError) -> String

    /// The values of placeholders.
    ///
    /// - Parameters:
    ///   - skillID: for `{{skillID}}`.
    ///   - tokenState: what `{{token}}` without a state means.
    ///   - token: a token of that state; it is not asked for ``TokenState/unlinked``.
    ///   - grantCode: a code that Login with Amazon takes once.
    ///   - spentGrantCode: for `{{grantCode:spent}}`, a code that Login with Amazon took already.
    public init(
        skillID: String, tokenState: TokenState = .linked,
        token: @escaping @Sendable (TokenState) throws(SampleError) -> Secret,
        grantCode: @escaping @Sendable () throws(SampleError) -> String,
        spentGrantCode: @escaping @Sendable () throws(SampleError) -> String = { () throws(SampleError) in
            throw SampleError(message: "{{grantCode:spent}} has no value here")
        }
    ) {
        self.skillID = skillID
        self.tokenState = tokenState
        self.token = token
        self.grantCode = grantCode
        self.spentGrantCode = spentGrantCode
    }

    /// The body to send: the template with every placeholder replaced, and not a byte changed else.
    ///
    /// - Throws: ``SampleError`` where a placeholder is unknown, or has no value here.
    public func body(of sample: Sample, now: UnixTime) throws(SampleError) -> [UInt8] {
        var rest = try withoutTokens(sample)[...]
        var text = ""
        while let start = rest.firstRange(of: "{{") {
            guard let end = rest[start.upperBound...].firstRange(of: "}}") else {
                throw SampleError(message: "\(sample.name): a placeholder does not end")
            }
            text += rest[..<start.lowerBound]
            text += try value(of: rest[start.upperBound..<end.lowerBound], in: sample, now: now)
            rest = rest[end.upperBound...]
        }
        return Array((text + rest).utf8)
    }

    private func value(of name: Substring, in sample: Sample, now: UnixTime) throws(SampleError) -> String {
        switch name {
        case "now": return now.iso8601()
        case "uuid": return SecureRandom.uuid()
        case "skillID": return skillID
        case "grantCode": return try grantCode()
        case "grantCode:spent": return try spentGrantCode()
        case "token": return try token(tokenState).exposed
        default:
            guard name.hasPrefix("token:"), let state = TokenState(rawValue: String(name.dropFirst("token:".count))),
                state != .unlinked
            else { throw SampleError(message: "\(sample.name): {{\(name)}} is no placeholder") }
            return try token(state).exposed
        }
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
