import Time

extension TraceRecord {
    /// The trace for a reader at a terminal: one line of summary, the facts, one line a step.
    public var text: String {
        var text = "trace "
        text.appendWord(id)
        text += "  " + kind.rawValue + "  " + outcome.rawValue
        if let reason {
            text += "  "
            text.appendWord(reason)
        }
        text += "  " + startedAt.iso8601(fraction: true) + "  " + duration.shown + "\n"
        if let subject {
            text += "  subject: "
            text.appendWord(bounded(subject))
            text += "\n"
        }
        for note in notes {
            text += "  " + note.name + ": "
            text.appendWord(note.value)
            text += "\n"
        }
        let nameWidth = steps.map(\.name.unicodeScalars.count).max() ?? 0
        for step in steps {
            text += padded(step.start.shown, 10) + " " + padded("+" + step.duration.shown, 9) + "  "
            text += step.name + String(repeating: " ", count: nameWidth - step.name.unicodeScalars.count)
            text += "  " + step.outcome.rawValue
            if let reason = step.reason {
                text += "  "
                text.appendWord(reason)
            }
            text += "\n"
        }
        if droppedSteps > 0 { text += "  and \(droppedSteps) more steps\n" }
        return text
    }

    /// The trace as one JSON object without line breaks.
    public var json: String {
        var text = "{\"id\":"
        text.appendQuoted(id)
        text += ",\"kind\":\"" + kind.rawValue + "\",\"startedAt\":\"" + startedAt.iso8601(fraction: true)
        text += "\",\"durationMilliseconds\":\(duration.jsonMilliseconds),\"outcome\":\"" + outcome.rawValue + "\""
        text.appendMember("reason", reason)
        text.appendMember("subject", subject)
        text += ",\"steps\":["
        for (index, step) in steps.enumerated() {
            text += index == 0 ? "{\"name\":" : ",{\"name\":"
            text.appendQuoted(step.name)
            text += ",\"outcome\":\"" + step.outcome.rawValue + "\""
            text.appendMember("reason", step.reason)
            text += ",\"startMilliseconds\":\(step.start.jsonMilliseconds)"
            text += ",\"durationMilliseconds\":\(step.duration.jsonMilliseconds)}"
        }
        text += "]"
        if droppedSteps > 0 { text += ",\"droppedSteps\":\(droppedSteps)" }
        text += ",\"notes\":["
        for (index, note) in notes.enumerated() {
            text += index == 0 ? "{\"name\":" : ",{\"name\":"
            text.appendQuoted(note.name)
            text.appendMember("value", note.value)
            text += "}"
        }
        return text + "]}"
    }
}

extension String {
    fileprivate mutating func appendMember(_ name: String, _ value: String?) {
        guard let value else { return }
        self += ",\"" + name + "\":"
        appendQuoted(value)
    }
}

private func padded(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.utf8.count)) + text
}
