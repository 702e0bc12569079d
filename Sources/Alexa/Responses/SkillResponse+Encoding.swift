import JSON

extension SkillResponse {
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("version")
        writer.string("1.0")
        if let sessionAttributes {
            writer.key("sessionAttributes")
            writer.value(.object(sessionAttributes))
        }
        writer.key("response")
        writer.beginObject()
        if let outputSpeech {
            writer.key("outputSpeech")
            outputSpeech.write(to: &writer)
        }
        if let card {
            writer.key("card")
            card.write(to: &writer)
        }
        reprompt?.write(to: &writer)
        writeDirectives(directives, to: &writer)
        if let shouldEndSession {
            writer.key("shouldEndSession")
            writer.bool(shouldEndSession)
        }
        if let canFulfillIntent {
            writer.key("canFulfillIntent")
            canFulfillIntent.write(to: &writer)
        }
        if let apiResponse {
            writer.key("apiResponse")
            writer.value(apiResponse)
        }
        writer.endObject()
        writer.endObject()
    }
}

private func writeDirectives(_ directives: [SkillDirective], to writer: inout JSONWriter) {
    guard !directives.isEmpty else { return }
    writer.key("directives")
    writer.beginArray()
    for directive in directives { writer.value(.object(directive.json)) }
    writer.endArray()
}

extension JSONWriter {
    /// A member of text; nil writes none.
    mutating func member(_ name: StaticString, _ text: String?) {
        guard let text else { return }
        key(name)
        string(text)
    }
}

extension OutputSpeech {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        switch content {
        case .plainText(let text):
            writer.member("type", "PlainText")
            writer.member("text", text)
        case .ssml(let ssml):
            writer.member("type", "SSML")
            writer.member("ssml", ssml)
        }
        writer.member("playBehavior", playBehavior?.rawValue)
        writer.endObject()
    }
}

extension Reprompt {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.key("reprompt")
        writer.beginObject()
        if let outputSpeech {
            writer.key("outputSpeech")
            outputSpeech.write(to: &writer)
        }
        writeDirectives(directives, to: &writer)
        writer.endObject()
    }
}

extension Card {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        switch self {
        case .simple(let title, let content):
            writer.member("type", "Simple")
            writer.member("title", title)
            writer.member("content", content)
        case .standard(let title, let text, let smallImageURL, let largeImageURL):
            writer.member("type", "Standard")
            writer.member("title", title)
            writer.member("text", text)
            if smallImageURL != nil || largeImageURL != nil {
                writer.key("image")
                writer.beginObject()
                writer.member("smallImageUrl", smallImageURL)
                writer.member("largeImageUrl", largeImageURL)
                writer.endObject()
            }
        case .linkAccount: writer.member("type", "LinkAccount")
        case .askForPermissionsConsent(let scopes):
            writer.member("type", "AskForPermissionsConsent")
            writer.key("permissions")
            writer.beginArray()
            for scope in scopes { writer.string(scope) }
            writer.endArray()
        }
        writer.endObject()
    }
}

extension CanFulfillIntent {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("canFulfill", canFulfill.rawValue)
        if !slots.isEmpty {
            writer.key("slots")
            writer.beginObject()
            for slot in slots {
                writer.key(named: slot.name)
                writer.beginObject()
                writer.member("canUnderstand", slot.canUnderstand.rawValue)
                writer.member("canFulfill", slot.canFulfill.rawValue)
                writer.endObject()
            }
            writer.endObject()
        }
        writer.endObject()
    }
}
