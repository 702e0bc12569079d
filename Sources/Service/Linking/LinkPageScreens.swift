/// The pages about links with Alexa, each made of values alone.
extension Screens {
    func words(_ text: LinkPageText, _ values: [String: String] = [:]) -> String {
        text.text(language, values.merging(["company": frame.company]) { own, _ in own })
    }

    /// Who is signed in, where the user's name is known.
    func who(_ name: String?) -> HTML {
        name.map {
            .element("div", ["class": "who"], .element("span", [:], HTML(text: text(.signedInAs))), HTML(text: $0))
        } ?? .nothing
    }

    /// A skill that can be linked.
    struct LinkOffer: Sendable {
        let skill: String
        /// What the user gains.
        let benefit: String?
        let form: Form
    }

    /// The page that begins: one button a skill.
    func linkStart(_ offers: [LinkOffer], user: String?, other: Form) -> HTML {
        let isOne = offers.count == 1
        let shown = offers.enumerated().map { index, offer in
            let button = HTML.element(
                "button",
                [
                    "type": "submit", "name": "decision", "value": "link", "id": "start-\(index)",
                    "aria-labelledby": isOne ? nil : "start-\(index) skill-\(index)",
                ], HTML(text: words(.start)))
            let lead = offer.benefit ?? words(.startLead)
            if isOne { return HTML([paragraph(lead), who(user), hint, form(offer.form, [button])]) }
            return .element(
                "section", ["aria-labelledby": "skill-\(index)"],
                .element("h2", ["id": "skill-\(index)"], HTML(text: offer.skill)), paragraph(lead),
                form(offer.form, [button]))
        }
        return linkPage(
            .chooseTitle, [:],
            [
                heading(words(.chooseTitle)),
                isOne ? .nothing : HTML([paragraph(words(.chooseLead)), who(user), hint]),
                HTML(shown), form(other, [button(text(.otherAccount), decision: "switch", kind: "plain")]),
            ])
    }

    private var hint: HTML { .element("p", ["class": "quiet"], HTML(text: words(.startHint))) }

    /// The page that ends an attempt after Amazon agreed.
    func linkFinish(skill: String, benefit: String?, user: String?, form: Form) -> HTML {
        linkPage(
            .finishTitle, [:],
            [
                heading(words(.finishTitle)), paragraph(words(.finishLead)),
                .element("p", [:], .element("b", [:], HTML(text: skill)), HTML(text: benefit.map { ": " + $0 } ?? "")),
                who(user),
                self.form(
                    form,
                    [
                        button(words(.finish), decision: "agree"),
                        button(text(.cancel), decision: "deny", kind: "second"),
                        button(text(.otherAccount), decision: "switch", kind: "plain"),
                    ]),
            ])
    }

    /// The page after that: linked, or not confirmed yet.
    func linkDone(skill: String, isPending: Bool, here: String, returnURL: String?) -> HTML {
        func link(_ text: String, _ address: String, _ kind: String) -> HTML {
            .element("a", ["class": kind, "href": address], HTML(text: text))
        }
        let title: LinkPageText = isPending ? .pendingTitle : .doneTitle
        return linkPage(
            title, [:],
            [
                heading(words(title)), paragraph(words(isPending ? .pendingLead : .doneLead, ["skill": skill])),
                isPending ? link(words(.lookAgain), here, "button") : .nothing,
                returnURL.map { link(words(.backToSite), $0, isPending ? "button second" : "button") } ?? .nothing,
                link(
                    text(.linksTitle), AccountPages.linksPath,
                    isPending || returnURL != nil ? "button second" : "button"),
            ])
    }

    /// A page that says what went wrong, by which reason code and id support finds it, and how the user goes on.
    func linkFailed(
        _ message: String, title: LinkPageText = .failedTitle, reference: String? = nil, user: String? = nil,
        other: Form? = nil, again: String? = nil, app: String? = nil
    ) -> HTML {
        linkPage(
            title, [:],
            [
                heading(words(title)), paragraph(message), who(user),
                reference.map(support) ?? .nothing,
                other.map { form($0, [button(text(.otherAccount), decision: "switch")]) } ?? .nothing,
                again.map {
                    .element(
                        "a", ["class": other == nil ? "button" : "button second", "href": $0],
                        HTML(text: words(.startAgain)))
                } ?? .nothing,
                app.map { .element("a", ["class": "button", "href": $0], HTML(text: words(.openApp))) } ?? .nothing,
            ])
    }

    func linkPage(_ title: LinkPageText, _ values: [String: String], _ content: [HTML]) -> HTML {
        frame.document(words(title, values), language: language, nonce: nonce, content: content)
    }

    /// How a link with Alexa came about and how it stands, in one line.
    func line(_ flow: LinkPageText, date: String, isUnknown: Bool) -> String {
        words(flow, ["date": date]) + (isUnknown ? " – " + words(.unknownNow) : "")
    }
}
