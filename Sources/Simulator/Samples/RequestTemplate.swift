import Crypto
public import JSON
public import Time

/// Makes samples of requests that came: whatever is secret, or good only for a while, becomes a placeholder.
///
/// One value serves a whole record: what one answer gave out, a state for example, is known in the requests after it.
public struct RequestTemplate: Sendable {
    private let skillIDs: Set<String>
    /// The placeholder for a token of ours.
    private let placeholder: @Sendable (_ token: String) -> String
    /// What answers gave out so far, and the name that each is captured under.
    private var captured: [String: String] = [:]
    /// The order of `captured`, so that the oldest can go.
    private var order: [String] = []
    private var counts: [String: Int] = [:]
    /// The consent address that belongs to a state, by the names of both.
    private var consents: [String: String] = [:]

    private var isGrantSpent = false

    private static let capturedLimit = 10_000

    /// What stands where a secret was that no placeholder can bring back.
    public static let removed = "removed"

    /// Members whose texts are secrets, in lower case.
    private static let secretNames: Set = [
        "apiaccesstoken", "consenttoken", "correlationtoken", "refreshtoken", "refresh_token", "access_token",
        "id_token",
        "clientsecret", "client_secret", "password", "secret", "authcode", "amazonauthcode", "assertion",
        "authorization", "cookie", "openurl",
    ]
    private static let tokenNames: Set = ["accesstoken", "token"]

    /// Templates of requests to skills with those ids.
    ///
    /// - Parameters:
    ///   - skillIDs: what becomes `{{skillID}}`.
    ///   - placeholder: what stands for a token of ours; the usual user's by default.
    public init(
        skillIDs: Set<String>, placeholder: @escaping @Sendable (_ token: String) -> String = { _ in "{{token}}" }
    ) {
        self.skillIDs = skillIDs
        self.placeholder = placeholder
    }

    // MARK: - Requests

    /// The body to send again.
    ///
    /// - Parameters:
    ///   - value: the body that came.
    ///   - time: when it came; without it every timestamp is taken as one of then.
    ///   - isGrantSpent: whether Login with Amazon refused the grant's code.
    /// - Returns: the body with placeholders.
    public mutating func body(_ value: JSONValue, at time: UnixTime?, isGrantSpent: Bool = false) -> JSONValue {
        self.isGrantSpent = isGrantSpent
        return template(value, name: nil, time)
    }

    /// A target to send again.
    public func target(_ target: String) -> String {
        var text = replacingCaptured(in: Self.withoutCodes(Self.escaped(target)))
        for token in Self.tokens(in: text) { text = text.replacing(token, with: placeholder(token)) }
        return text
    }

    /// The value of an `Authorization` header line to send again.
    ///
    /// A client's own name and secret are `{{basic:CLIENT}}`, which stands for both.
    public func authorization(_ value: String) -> String {
        let lowercased = value.lowercased()
        if lowercased.hasPrefix("bearer ") { return "Bearer " + placeholder(String(value.dropFirst("bearer ".count))) }
        guard lowercased.hasPrefix("basic "), let pair = Base64.decode(value.dropFirst("basic ".count)),
            let end = pair.firstIndex(of: UInt8(ascii: ":"))
        else { return Self.removed }
        return "Basic {{basic:\(Self.escaped(String(decoding: pair[..<end], as: UTF8.self)))}}"
    }

    private func template(_ value: JSONValue, name: String?, _ time: UnixTime?) -> JSONValue {
        switch value {
        case .object(let object):
            var members = JSONObject()
            for (name, member) in object { members[name] = self.member(name, member, of: object, time) }
            return .object(members)
        case .array(let elements): return .array(elements.map { template($0, name: name, time) })
        case .string(let text): return .string(self.text(text))
        default: return value
        }
    }

    private func member(_ name: String, _ value: JSONValue, of object: JSONObject, _ time: UnixTime?) -> JSONValue {
        guard let text = value.string else {
            let isTime = name == "timestamp" && object["type"] != nil
            return isTime && isFresh(value, object, time) ? "{{now}}" : template(value, name: name, time)
        }
        switch name {
        case "timestamp" where object["type"] != nil && isFresh(value, object, time): return "{{now}}"
        case "applicationId" where skillIDs.contains(text) || time == nil: return "{{skillID}}"
        case "code" where object["type"] == "OAuth2.AuthorizationCode":
            return isGrantSpent ? "{{grantCode:spent}}" : "{{grantCode}}"
        case "redirect":
            if let place = consent(in: text) { return .string(Self.consent(place, after: text)) }
        case "amazonAuthCode":
            if let state = object["state"]?.string, let key = captured[state], let place = consents[key] {
                return .string("{{consentCode:\(place)}}")
            }
        case "requestId", "messageId":
            if text.count >= 36, isUUID(String(text.suffix(36))) { return .string(text.dropLast(36) + "{{uuid}}") }
        default: break
        }
        let lowercased = name.lowercased()
        if Self.tokenNames.contains(lowercased), !text.isEmpty { return .string(placeholder(text)) }
        if Self.secretNames.contains(lowercased), !text.isEmpty { return .string(Self.removed) }
        return .string(self.text(text))
    }

    /// Whether a request's time is one that the service took, so that another of that kind will be taken too.
    private func isFresh(_ value: JSONValue, _ request: JSONObject, _ time: UnixTime?) -> Bool {
        guard let time else { return true }
        guard let given = value.string.flatMap({ UnixTime(iso8601: $0) }) else { return false }
        let isEvent = request["type"]?.string?.hasPrefix("AlexaSkillEvent.") ?? false
        return abs(given.milliseconds(since: time)) <= (isEvent ? 3_600_000 : 150_000)
    }

    private func text(_ text: String) -> String {
        if Self.isOfAmazon(text) { return Self.removed }
        if Self.isToken(text) { return placeholder(text) }
        return replacingCaptured(in: Self.withoutCodes(Self.escaped(text)))
    }

    private func replacingCaptured(in text: String) -> String {
        if let name = captured[text] { return "{{captured:\(name)}}" }
        guard text.contains("=") else { return text }
        var text = text
        for (value, name) in captured where text.contains("=" + value) {
            text = text.replacing("=" + value, with: "={{captured:\(name)}}")
        }
        return text
    }

    /// The name of the consent address whose state a redirect carries.
    private func consent(in redirect: String) -> String? {
        guard let state = Self.values(of: redirect)["state"], let key = captured[state] else { return nil }
        return consents[key]
    }

    private static func consent(_ place: String, after redirect: String) -> String {
        let values = values(of: redirect)
        guard values["code"] == nil, let error = values["error"] else { return "{{consent:\(place)}}" }
        return "{{consent:\(place):\(error.filter { $0.isLetter || $0 == "_" })}}"
    }

    private static func values(of url: String) -> [String: String] {
        var values: [String: String] = [:]
        for pair in url.drop(while: { $0 != "?" && $0 != "#" }).dropFirst().split(whereSeparator: { "&#".contains($0) })
        {
            let parts = pair.split(separator: "=", maxSplits: 1).map(String.init)
            if parts.count == 2 { values[parts[0]] = parts[1] }
        }
        return values
    }

    // MARK: - Answers

    /// What to expect of the answer: ids and times by kind, and for secrets any text.
    ///
    /// What an app is given to come back with is captured.
    public mutating func expected(_ answer: JSONValue, at time: UnixTime?, isApp: Bool = false) -> JSONValue {
        var consent: String?
        return expected(answer, name: nil, time, isApp: isApp, &consent)
    }

    private mutating func expected(
        _ answer: JSONValue, name: String?, _ time: UnixTime?, isApp: Bool, _ consent: inout String?
    ) -> JSONValue {
        switch answer {
        case .object(let object):
            var members = JSONObject()
            for (name, value) in object { members[name] = expected(value, name: name, time, isApp: isApp, &consent) }
            return .object(members)
        case .array(let elements):
            return .array(elements.map { expected($0, name: name, time, isApp: isApp, &consent) })
        case .string(let text): return expected(text, name ?? "", time, isApp: isApp, &consent)
        default: return answer
        }
    }

    private mutating func expected(
        _ text: String, _ name: String, _ time: UnixTime?, isApp: Bool, _ consent: inout String?
    ) -> JSONValue {
        if isApp {
            switch name {
            case "companionAppURL":
                let capture = self.capture(text, as: name)
                consent = capture
                return .string(ExpectedAnswer.capture + capture)
            case "state", "id":
                let capture = self.capture(text, as: name == "id" ? "link" : name)
                if name == "state" { consents[capture] = consent }
                return .string(ExpectedAnswer.capture + capture)
            case "LWAFallBackURL", "alexaAppUrl", "lwaFallBackUrl", "openURL": return "$string"
            default: break
            }
        }
        let lowercased = name.lowercased()
        if Self.secretNames.contains(lowercased) || Self.tokenNames.contains(lowercased) { return "$string" }
        if Self.isToken(text) || Self.isOfAmazon(text) || Self.isTraceID(text) { return "$string" }
        if isUUID(text) { return "$uuid" }
        if let moment = UnixTime(iso8601: text) {
            guard let time, abs(moment.milliseconds(since: time)) >= 86_400_000 else { return "$timestamp" }
        }
        return .string(text)
    }

    private mutating func capture(_ value: String, as kind: String) -> String {
        if let known = captured[value] { return known }
        counts[kind, default: 0] += 1
        let name = "\(kind)-\(counts[kind, default: 0])"
        captured[value] = name
        order.append(value)
        if order.count > Self.capturedLimit {
            if let gone = captured.removeValue(forKey: order.removeFirst()) { consents[gone] = nil }
        }
        return name
    }

    // MARK: - What a text looks like

    /// A token in three parts of base64url (RFC 7519 §3).
    static func isToken(_ text: String) -> Bool {
        text.hasPrefix("eyJ") && text.split(separator: ".", omittingEmptySubsequences: false).count == 3
            && text.utf8.allSatisfy(isTokenByte)
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."): true
        default: false
        }
    }

    private static func tokens(in text: String) -> [String] {
        text.split { $0 == "=" || $0 == "&" || $0 == "?" || $0 == "/" }.map(String.init).filter(isToken)
    }

    /// What Login with Amazon and Alexa give out.
    private static func isOfAmazon(_ text: String) -> Bool {
        ["Atza|", "Atzr|", "Atc|"].contains { text.hasPrefix($0) }
    }

    private static func isTraceID(_ text: String) -> Bool {
        text.utf8.count == 32 && text.utf8.allSatisfy { hexadecimalDigits.contains($0) }
    }

    /// A code in an address is good once, and for whoever reads it first.
    private static func withoutCodes(_ text: String) -> String {
        guard text.contains("=") else { return text }
        var text = text
        for (name, value) in values(of: text)
        where name == "code" || tokenNames.contains(name) || secretNames.contains(name.lowercased()) {
            text = text.replacing("\(name)=\(value)", with: "\(name)=\(removed)")
        }
        return text
    }

    private static func escaped(_ text: String) -> String { text.replacing("{{", with: "{{braces}}") }
}
