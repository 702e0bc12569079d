import JSON

/// Which rule of Alexa's an answer breaks, found before it leaves.
public struct ResponseViolation: Error, Hashable, Sendable {
    /// What is wrong.
    public enum Problem: Hashable, Sendable {
        /// More characters than allowed.
        case tooLong(Int, limit: Int)
        /// More bytes than allowed.
        case tooManyBytes(Int, limit: Int)
        /// A member that must be there is not.
        case missing
        /// A value that is none of those allowed.
        case invalid
        /// SSML that is not wrapped in `<speak>`.
        case notWrapped
        /// A member that the request does not accept.
        case notPermitted
    }

    /// The member's path, `response.card` for example.
    public let member: String
    /// What is wrong with it.
    public let problem: Problem

    /// A violation.
    public init(member: String, problem: Problem) {
        self.member = member
        self.problem = problem
    }

    /// The stable reason code, for logs and traces.
    public var reasonCode: String {
        switch problem {
        case .tooLong, .tooManyBytes: "response.tooLong"
        case .missing: "response.missing"
        case .invalid: "response.invalid"
        case .notWrapped: "response.notWrapped"
        case .notPermitted: "response.notPermitted"
        }
    }

    /// What the developer needs: the member, and for lengths the numbers.
    public var detail: String {
        switch problem {
        case .tooLong(let count, let limit): "\(member): \(count) characters, at most \(limit)"
        case .tooManyBytes(let count, let limit): "\(member): \(count) bytes, at most \(limit)"
        case .missing, .invalid, .notWrapped, .notPermitted: member
        }
    }
}

/// Alexa's limits on an answer, in UTF-16 units, by which the strictest reader counts.
private enum ResponseLimits {
    static let speech = 8000
    static let cardText = 8000
    static let imageURL = 2000
    static let streamToken = 1024
    static let streamURL = 8000
}

extension SkillResponse {
    func checkMembers() throws(ResponseViolation) {
        try outputSpeech?.check("response.outputSpeech")
        try card?.check("response.card")
        try reprompt?.outputSpeech?.check("response.reprompt.outputSpeech")
        try check(directives, "response.directives")
        try check(reprompt?.directives ?? [], "response.reprompt.directives")
        for slot in canFulfillIntent?.slots ?? [] where slot.canFulfill == .maybe {
            throw ResponseViolation(
                member: "response.canFulfillIntent.slots.\(slot.name).canFulfill", problem: .invalid)
        }
    }

    func checkPermission(_ permitted: PermittedAnswer) throws(ResponseViolation) {
        if permitted == .full, canFulfillIntent == nil { return }
        let allowed = restricted(to: permitted)
        let members: [(name: String, isKept: Bool)] = [
            ("response.outputSpeech", outputSpeech == allowed.outputSpeech),
            ("response.card", card == allowed.card),
            ("response.reprompt", reprompt == allowed.reprompt),
            ("response.directives", directives == allowed.directives),
            ("response.shouldEndSession", shouldEndSession == allowed.shouldEndSession),
            ("response.canFulfillIntent", canFulfillIntent == allowed.canFulfillIntent),
            ("response.apiResponse", apiResponse == allowed.apiResponse),
            ("sessionAttributes", sessionAttributes == allowed.sessionAttributes),
        ]
        guard let extra = members.first(where: { !$0.isKept }) else { return }
        throw ResponseViolation(member: extra.name, problem: .notPermitted)
    }

    private func check(_ directives: [SkillDirective], _ path: String) throws(ResponseViolation) {
        for (index, directive) in directives.enumerated() {
            let json = directive.json
            guard let type = json["type"]?.string, !type.isEmpty else {
                throw ResponseViolation(member: "\(path)[\(index)].type", problem: .missing)
            }
            guard type == "AudioPlayer.Play" else { continue }
            let stream = "\(path)[\(index)].audioItem.stream"
            let members = json["audioItem"]?["stream"]
            guard let url = members?["url"]?.string, !url.isEmpty else {
                throw ResponseViolation(member: stream + ".url", problem: .missing)
            }
            guard let token = members?["token"]?.string else {
                throw ResponseViolation(member: stream + ".token", problem: .missing)
            }
            try checkLength(url, stream + ".url", limit: ResponseLimits.streamURL)
            try checkLength(token, stream + ".token", limit: ResponseLimits.streamToken)
        }
    }
}

extension OutputSpeech {
    fileprivate func check(_ path: StaticString) throws(ResponseViolation) {
        switch content {
        case .plainText(let text): try checkLength(text, "\(path).text", limit: ResponseLimits.speech)
        case .ssml(let ssml):
            guard isWrapped(ssml) else { throw ResponseViolation(member: "\(path).ssml", problem: .notWrapped) }
            try checkLength(ssml, "\(path).ssml", limit: ResponseLimits.speech)
        }
    }
}

extension Card {
    fileprivate func check(_ path: String) throws(ResponseViolation) {
        switch self {
        case .simple(let title, let content):
            try checkLength((title ?? "") + content, path, limit: ResponseLimits.cardText)
        case .standard(let title, let text, let smallImageURL, let largeImageURL):
            for (name, url) in [("smallImageUrl", smallImageURL), ("largeImageUrl", largeImageURL)] {
                try checkLength(url ?? "", "\(path).image.\(name)", limit: ResponseLimits.imageURL)
            }
            let all = (title ?? "") + text + (smallImageURL ?? "") + (largeImageURL ?? "")
            try checkLength(all, path, limit: ResponseLimits.cardText)
        case .linkAccount: return
        case .askForPermissionsConsent(let scopes):
            guard !scopes.isEmpty else { throw ResponseViolation(member: path + ".permissions", problem: .missing) }
        }
    }
}

/// Refuses a text over its limit; the member's path is put together only for one that is.
private func checkLength(
    _ text: String, _ path: @autoclosure () -> String, limit: Int
) throws(ResponseViolation) {
    // No text has more units than bytes, so the usual one need not be counted.
    guard text.utf8.count > limit else { return }
    let count = text.utf16.count
    guard count <= limit else { throw ResponseViolation(member: path(), problem: .tooLong(count, limit: limit)) }
}

/// Whether `<speak>`, with or without attributes, is the outermost element.
private func isWrapped(_ ssml: String) -> Bool {
    let blanks: Set<Character> = [" ", "\n", "\r\n", "\t", "\r"]
    let text = ssml.drop { blanks.contains($0) }
    guard text.hasPrefix("<speak"), let next = text.dropFirst(6).first, next == ">" || blanks.contains(next) else {
        return false
    }
    var end = text[...]
    while let last = end.last, blanks.contains(last) { end = end.dropLast() }
    return end.hasSuffix("</speak>")
}
