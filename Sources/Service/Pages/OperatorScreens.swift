import Alexa
import HTTP
import Telemetry
import Time

/// What the operator sees: lists of attempts and single traces, in English like the log.
struct OperatorScreens: Sendable {
    /// Failed attempts, or all of them; with a user, that user's links as well.
    func attempts(_ attempts: [TraceRecord], subject: String?, isWhole: Bool, links: [Link]) -> [HTML] {
        let what = isWhole ? "Link attempts" : "Failed link attempts"
        return [
            .element("h1", [:], HTML(text: subject == nil ? what : "\(what) of \(subject ?? "")")),
            .element("p", ["class": "quiet"], HTML(text: "Newest first, \(OperatorEndpoint.listLimit) at most.")),
            search(subject, isWhole: isWhole),
            attempts.isEmpty ? .element("p", [:], "None.") : HTML(attempts.map(attempt)),
            links.isEmpty ? .nothing : .element("h1", [:], "Links"), HTML(links.map(link)),
        ]
    }

    /// One trace: its facts, then its steps.
    func trace(_ trace: TraceRecord) -> [HTML] {
        var facts = [
            ("trace", trace.id), ("kind", trace.kind.rawValue), ("began", trace.startedAt.iso8601(fraction: true)),
            ("took", trace.duration.shown), ("outcome", trace.outcome.rawValue),
        ]
        if let reason = trace.reason { facts.append(("reason", reason)) }
        if let subject = trace.subject { facts.append(("subject", subject)) }
        facts += trace.notes.map { ($0.name, $0.value) }
        let more = trace.droppedSteps == 0 ? HTML.nothing : item("and \(trace.droppedSteps) more steps", "")
        let subject = trace.subject.map { Self.address(subject: $0, isWhole: true) }
        return [
            .element("h1", [:], HTML(text: trace.reason ?? trace.outcome.rawValue)),
            .element("ul", ["class": "scopes"], HTML(facts.map { item($0.0, $0.1) })),
            .element("h2", [:], "Steps"),
            .element("ul", ["class": "scopes"], HTML(trace.steps.map(step)), more),
            subject.map { paragraph(.element("a", ["href": $0], "All attempts of this user")) } ?? .nothing,
            paragraph(.element("a", ["href": OperatorEndpoint.linksPath], "Failed link attempts")),
        ]
    }

    private func search(_ subject: String?, isWhole: Bool) -> HTML {
        .element(
            "form", ["method": "get", "action": OperatorEndpoint.linksPath],
            .element("label", ["for": "subject"], "User (sub of the provider)"),
            .element(
                "input",
                [
                    "id": "subject", "name": "subject", "type": "text", "value": subject, "maxlength": "255",
                    "autocapitalize": "none", "autocomplete": "off", "spellcheck": "false",
                ]),
            .element("button", ["type": "submit", "name": "outcome", "value": "failed"], "Show failed attempts"),
            .element(
                "button", ["type": "submit", "name": "outcome", "value": "all", "class": "second"],
                "Show all attempts"))
    }

    private func attempt(_ trace: TraceRecord) -> HTML {
        let skill = trace.notes.first { $0.name == "skill" }?.value
        let facts = [trace.startedAt.iso8601(), skill, trace.subject, trace.duration.shown]
        return .element(
            "section", [:],
            .element("h2", [:], HTML(text: trace.reason ?? trace.outcome.rawValue)),
            .element("p", ["class": "quiet"], HTML(text: facts.compactMap(\.self).joined(separator: ", "))),
            traceLink(trace.id))
    }

    private func link(_ link: Link) -> HTML {
        let facts = [link.skill, link.stage, link.region?.rawValue, "from \(link.flow.rawValue)"]
        let moment = link.linkedAt.iso8601()
        return .element(
            "section", [:],
            .element("h2", [:], HTML(text: "\(link.status.rawValue) \(moment)")),
            .element("p", ["class": "quiet"], HTML(text: facts.compactMap(\.self).joined(separator: ", "))),
            .element("p", ["class": "quiet"], HTML(text: link.alexaUserID ?? "Alexa user not known yet")),
            link.traceID.map(traceLink) ?? .nothing)
    }

    private func traceLink(_ id: String) -> HTML {
        paragraph(
            .element("a", ["href": OperatorEndpoint.tracesPath + percentEncoded(id)], HTML(text: "trace \(id)")))
    }

    private func step(_ step: TraceRecord.Step) -> HTML {
        let outcome = [step.outcome.rawValue, step.reason].compactMap(\.self).joined(separator: " ")
        return item(
            "\(step.name): \(outcome)", "\(step.duration.shown), begun after \(step.start.shown)")
    }

    private func item(_ head: String, _ text: String) -> HTML {
        .element("li", [:], .element("b", [:], HTML(text: head)), " ", HTML(text: text))
    }

    private func paragraph(_ content: HTML) -> HTML { .element("p", [:], content) }

    private static func address(subject: String, isWhole: Bool) -> String {
        OperatorEndpoint.linksPath + "?subject=\(percentEncoded(subject))" + (isWhole ? "&outcome=all" : "")
    }
}

extension PageAnswers {
    /// A page for the operator, in the frame and under the policy of every other page.
    func operatorPage(_ title: String, _ content: (OperatorScreens) -> [HTML]) -> HTTPResponse {
        page(.english) { screens in
            screens.frame.document(
                title, language: .english, nonce: screens.nonce, content: content(OperatorScreens()))
        }
    }
}
