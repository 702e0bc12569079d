/// What every page shows of the company, and the frame around it.
struct PageFrame: Sendable {
    /// The company's name.
    let company: String
    /// An address of ours that serves the company's logo; never somebody else's (RFC 9700 §4.2).
    let logoPath: String?
    let privacyURL: String?
    let supportURL: String?
    let style: PageStyle

    init(
        company: String, logoPath: String? = nil, color: String? = nil, privacyURL: String? = nil,
        supportURL: String? = nil
    ) {
        self.company = company
        self.logoPath = logoPath
        self.privacyURL = privacyURL
        self.supportURL = supportURL
        style = PageStyle(color: color.flatMap { PageColor(hex: $0) } ?? .fallback)
    }

    /// The document around `content`; `nonce` is the one of its content security policy.
    func document(_ title: String, language: PageLanguage, nonce: String, content: [HTML]) -> HTML {
        .document(
            .element(
                "html", ["lang": language.rawValue],
                .element(
                    "head", [:],
                    .element("meta", ["charset": "utf-8"]),
                    .element("meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"]),
                    .element("meta", ["name": "robots", "content": "noindex"]),
                    .element("title", [:], "\(title) – \(company)"),
                    .style(style, nonce: nonce)),
                .element(
                    "body", [:],
                    .element("header", [:], mark, .element("span", [:], HTML(text: company))),
                    .element("main", [:], HTML(content)), footer(language))))
    }

    private var mark: HTML {
        // The company's name stands beside it: a second time, in `alt`, it would only be read out twice.
        if let logoPath { return .element("img", ["src": logoPath, "alt": "", "height": "40"]) }
        return .element("span", ["class": "mark", "aria-hidden": "true"], HTML(text: company.prefix(1).uppercased()))
    }

    private func footer(_ language: PageLanguage) -> HTML {
        let links: [(String?, PageText)] = [(privacyURL, .privacy), (supportURL, .support)]
        let shown = links.compactMap { url, text in
            url.map { HTML.element("a", ["href": $0], HTML(text: text.text(language))) }
        }
        return shown.isEmpty ? .nothing : .element("footer", [:], HTML(shown))
    }
}
