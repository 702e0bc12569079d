/// The pages, each made of values alone.
struct Screens: Sendable {
    let frame: PageFrame
    let language: PageLanguage
    /// The nonce of the style sheet.
    let nonce: String

    /// A form of ours: where it goes, and what it carries unseen.
    struct Form: Sendable {
        let action: String
        let hidden: [(name: String, value: String)]
    }

    /// Why a sign-in was sent back.
    enum SignInFault: Sendable, Hashable {
        case usernameMissing
        case passwordMissing
        /// The user is unknown, or the password is wrong: nobody learns which.
        case wrong
        case tooMany
        case locked
    }

    func signIn(_ form: Form, username: String = "", faults: [SignInFault] = []) -> HTML {
        page(
            .signInTitle, [:],
            [
                heading(text(.signInTitle)), paragraph(text(.signInLead)), summary(of: faults),
                self.form(
                    form,
                    [
                        field("username", .username, value: username, faults: faults),
                        field("password", .password, faults: faults), button(text(.signIn)),
                    ]),
            ])
    }

    /// What the consent page shows.
    struct Consent: Sendable {
        let client: String
        /// What each scope allows, in the user's language.
        let scopes: [String]
        let user: String
        /// Whether Google asks, whose rules word the page.
        let isGoogle: Bool
        /// The client's own privacy policy.
        let privacyURL: String?
    }

    func consent(_ consent: Consent, form: Form) -> HTML {
        let values = ["client": consent.client]
        let scopes = consent.scopes.map { HTML.element("li", [:], HTML(text: $0)) }
        return page(
            .consentTitle, values,
            [
                heading(text(.consentTitle, values)),
                .element(
                    "div", ["class": "who"], .element("span", [:], HTML(text: text(.signedInAs))),
                    HTML(text: consent.user)),
                consent.isGoogle ? paragraph(text(.googleControls)) : .nothing,
                scopes.isEmpty
                    ? .nothing
                    : HTML([
                        .element("h2", [:], HTML(text: text(.consentLead, values))),
                        .element("ul", ["class": "scopes"], HTML(scopes)),
                    ]),
                .element("p", ["class": "quiet"], HTML(text: text(.unlinkHint))),
                consent.privacyURL.map {
                    .element(
                        "p", ["class": "quiet"],
                        .element("a", ["href": $0], HTML(text: text(.clientPrivacy, values))))
                } ?? .nothing,
                self.form(
                    form,
                    [
                        button(text(consent.isGoogle ? .agreeAndLink : .agree), decision: "agree"),
                        button(text(.cancel), decision: "deny", kind: "second"),
                        button(text(.otherAccount), decision: "switch", kind: "plain"),
                    ]),
            ])
    }

    /// One client, or one link with Alexa, that may use the account.
    struct Link: Sendable {
        let client: String
        /// How it came about, and when.
        let line: String
        let form: Form
    }

    /// What may use the account, and the ways to end that; `add` leads to where a link with Alexa begins.
    func links(_ links: [Link], removeAll: Form?, add: String?, signOut: Form) -> HTML {
        let sections = links.enumerated().map { index, link in
            HTML.element(
                "section", ["aria-labelledby": "link-\(index)"],
                .element("h2", ["id": "link-\(index)"], HTML(text: link.client)),
                .element("p", ["class": "quiet"], HTML(text: link.line)),
                form(link.form, [removal(index)]))
        }
        return page(
            .linksTitle, [:],
            [
                heading(text(.linksTitle)), paragraph(text(links.isEmpty ? .linksEmpty : .linksLead)), HTML(sections),
                add.map { .element("a", ["class": "button", "href": $0], HTML(text: words(.addLink))) } ?? .nothing,
                removeAll.map { form($0, [button(words(.removeAll), kind: "second")]) } ?? .nothing,
                form(signOut, [button(text(.signOut), kind: "plain")]),
            ])
    }

    /// A page that says one thing, with a link to where the user goes on.
    func message(
        _ title: PageText, _ lead: PageText, hint: PageText? = nil, values: [String: String] = [:], goOn: String? = nil,
        reference: String? = nil
    ) -> HTML {
        page(
            title, values,
            [
                heading(text(title, values)), paragraph(text(lead, values)),
                hint.map { .element("p", ["class": "quiet"], HTML(text: text($0, values))) } ?? .nothing,
                reference.map(support) ?? .nothing,
                goOn.map { .element("a", ["class": "button", "href": $0], HTML(text: text(.goOn))) } ?? .nothing,
            ])
    }
}

extension Screens {
    func text(_ text: PageText, _ values: [String: String] = [:]) -> String {
        text.text(language, values.merging(["company": frame.company]) { own, _ in own })
    }

    func page(_ title: PageText, _ values: [String: String], _ content: [HTML]) -> HTML {
        frame.document(text(title, values), language: language, nonce: nonce, content: content)
    }

    /// By which reason code and id support finds what became of a request.
    func support(_ reference: String) -> HTML {
        .element("p", ["class": "quiet"], HTML(text: words(.reference, ["id": reference])))
    }

    func heading(_ text: String) -> HTML { .element("h1", [:], HTML(text: text)) }
    func paragraph(_ text: String) -> HTML { .element("p", [:], HTML(text: text)) }

    func form(_ form: Form, _ content: [HTML]) -> HTML {
        let hidden = form.hidden.map { HTML.element("input", ["type": "hidden", "name": $0.name, "value": $0.value]) }
        return .element("form", ["method": "post", "action": form.action, "novalidate": ""], HTML(hidden + content))
    }

    func button(_ text: String, decision: String? = nil, kind: String? = nil) -> HTML {
        .element(
            "button", ["type": "submit", "class": kind, "name": decision.map { _ in "decision" }, "value": decision],
            HTML(text: text))
    }

    /// Its name is what it shows and the client that its section is about.
    private func removal(_ index: Int) -> HTML {
        .element(
            "button",
            [
                "type": "submit", "class": "second", "id": "remove-\(index)",
                "aria-labelledby": "remove-\(index) link-\(index)",
            ], HTML(text: text(.removeLink)))
    }

    private func words(for fault: SignInFault) -> PageText {
        switch fault {
        case .usernameMissing: .usernameMissing
        case .passwordMissing: .passwordMissing
        case .wrong: .wrongCredentials
        case .tooMany: .tooManyAttempts
        case .locked: .accountLocked
        }
    }

    /// The field that a fault is about: the first of several, and nil where no field can mend it.
    private func fieldName(of fault: SignInFault) -> String? {
        switch fault {
        case .usernameMissing, .wrong: "username"
        case .passwordMissing: "password"
        case .tooMany, .locked: nil
        }
    }

    private func summary(of faults: [SignInFault]) -> HTML {
        guard !faults.isEmpty else { return .nothing }
        let items = faults.map { fault in
            let words = HTML(text: text(words(for: fault)))
            return HTML.element(
                "li", [:], fieldName(of: fault).map { .element("a", ["href": "#\($0)"], words) } ?? words)
        }
        return .element(
            "div", ["class": "summary", "role": "alert", "aria-labelledby": "problem", "tabindex": "-1"],
            .element("h2", ["id": "problem"], HTML(text: text(.problem))), .element("ul", [:], HTML(items)))
    }

    private func field(_ name: String, _ label: PageText, value: String = "", faults: [SignInFault]) -> HTML {
        let isPassword = label == .password
        let missing = faults.first { $0 == (isPassword ? .passwordMissing : .usernameMissing) }
        let isWrong = missing != nil || faults.contains(.wrong)
        return HTML([
            .element("label", ["for": name], HTML(text: text(label))),
            .element(
                "input",
                [
                    "id": name, "name": name, "type": isPassword ? "password" : "text",
                    "value": isPassword ? nil : value,
                    "autocomplete": isPassword ? "current-password" : "username", "maxlength": "255",
                    "autocapitalize": "none", "spellcheck": "false", "required": "",
                    "aria-invalid": isWrong ? "true" : nil,
                    "aria-describedby": missing == nil ? nil : "\(name)-wrong",
                ]),
            missing.map {
                .element("p", ["class": "wrong", "id": "\(name)-wrong"], HTML(text: text(words(for: $0))))
            } ?? .nothing,
        ])
    }
}
