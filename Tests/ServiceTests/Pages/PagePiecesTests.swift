import Testing

// The pages are made of values that only our routes hand in, so their parts are not public.
@testable import Service

@Suite("Parts of pages") struct PagePiecesTests {
    static let frame = PageFrame(
        company: "Ride & Hail", color: "#00aa77", privacyURL: "https://example.com/privacy")

    static func screens(_ language: PageLanguage = .english) -> Screens {
        Screens(frame: frame, language: language, nonce: "n0nce")
    }

    static let form = Screens.Form(action: "/oauth/authorize", hidden: [("request", "a\"b")])

    @Test(
        "text never becomes markup",
        arguments: [
            ("a < b", "a &lt; b"), ("<script>", "&lt;script&gt;"), ("\" onload=\"x", "&quot; onload=&quot;x"),
            ("it's & more", "it&#39;s &amp; more"), ("nul\u{0}", "nul\u{FFFD}"), ("ユーザー", "ユーザー"),
        ])
    func escaping(text: String, markup: String) {
        #expect(HTML(text: text).markup == markup)
        #expect(HTML.element("a", ["href": text]).markup == "<a href=\"\(markup)\"></a>")
    }

    @Test(
        "text on any company colour, and that colour as text, can be read in both schemes",
        arguments: ["#000", "#fff", "#0a7", "#00aa77", "#ffee00", "#7f7f7f", "#e60028", "#1f5fbf", "#808000"])
    func contrast(hex: String) throws {
        let color = try #require(PageColor(hex: hex))
        #expect(color.contrast(to: color.readable) >= 4.5)
        for card in [PageColor.lightCard, .darkCard] {
            #expect(color.readable(on: card).contrast(to: card) >= 4.5)
            #expect(color.readable(on: card, atLeast: 3).contrast(to: card) >= 3)
        }
    }

    @Test("contrast is that of WCAG: 21 for black on white, 4.54 for #767676")
    func contrastFigures() throws {
        #expect(abs(try #require(PageColor(hex: "#000")).contrast(to: .white) - 21) < 0.01)
        #expect(abs(try #require(PageColor(hex: "#767676")).contrast(to: .white) - 4.54) < 0.01)
    }

    @Test("what is no colour is none", arguments: ["", "#", "0a7", "#0a", "#0a7x", "#00aa7g", "#00aa7700"])
    func noColor(text: String) { #expect(PageColor(hex: text) == nil) }

    @Test(
        "the page speaks what the client wishes, else what the browser prefers, else English",
        arguments: [
            (["ja-JP"], "de", PageLanguage.japanese), (["fr", "de-AT"], nil, .german),
            (["fr"], "de;q=0.5, ja;q=0.9", .japanese), ([], "fr, de-CH;q=0.7, en;q=0.3", .german),
            ([], "de;q=0", .english), ([], "de;q=2", .english), ([], "xx", .english), ([], nil, .english),
        ] as [([String], String?, PageLanguage)])
    func language(wished: [String], accept: String?, expected: PageLanguage) {
        #expect(PageLanguage(wished: wished, acceptLanguage: accept) == expected)
    }

    @Test("every text has every language, and no placeholder is left over", arguments: PageLanguage.allCases)
    func texts(language: PageLanguage) {
        for text in PageText.allCases {
            let shown = text.text(language, ["company": "C", "client": "K", "date": "D", "name": "N"])
            #expect(!shown.isEmpty && !shown.contains("{"), "\(text)")
        }
    }

    @Test("each page names its language, has one first heading, and carries its values escaped")
    func frame() {
        let markup = Self.screens(.german).signIn(Self.form, username: "<mia>").markup
        #expect(markup.contains("<html lang=\"de\">"))
        #expect(markup.components(of: "<h1>") == 1)
        #expect(markup.contains("value=\"&lt;mia&gt;\"") && markup.contains("value=\"a&quot;b\""))
        #expect(markup.contains("Ride &amp; Hail") && !markup.contains("<script"))
        #expect(markup.contains("<style nonce=\"n0nce\">") && !markup.contains("style=\""))
    }

    @Test(
        "a fault of the sign-in is told on top, with a link to its field",
        arguments: [
            (Screens.SignInFault.usernameMissing, "#username"), (.passwordMissing, "#password"), (.wrong, "#username"),
        ])
    func faults(fault: Screens.SignInFault, anchor: String) {
        let markup = Self.screens().signIn(Self.form, faults: [fault]).markup
        #expect(markup.contains("role=\"alert\"") && markup.contains("<a href=\"\(anchor)\">"))
        #expect(markup.contains("aria-invalid=\"true\""))
        #expect(!Self.screens().signIn(Self.form).markup.contains("role=\"alert\""))
    }

    @Test("a fault that no field can mend leads nowhere", arguments: [Screens.SignInFault.locked, .tooMany])
    func faultsOfNoField(fault: Screens.SignInFault) {
        let markup = Self.screens().signIn(Self.form, faults: [fault]).markup
        #expect(markup.contains("role=\"alert\"") && !markup.contains("<a href=\"#"))
        #expect(!markup.contains("aria-invalid=\"true\""))
    }

    @Test("each button that removes a link is named by what it shows and by the client")
    func removals() {
        let links = ["Amazon Alexa", "Google"].map { Screens.Link(client: $0, line: "d", form: Self.form) }
        let markup = Self.screens().links(links, removeAll: nil, add: nil, signOut: Self.form).markup
        for index in links.indices {
            #expect(markup.contains("id=\"remove-\(index)\" aria-labelledby=\"remove-\(index) link-\(index)\">"))
            #expect(markup.contains("<h2 id=\"link-\(index)\">\(links[index].client)</h2>"))
        }
    }

    @Test("the password is never written into the page")
    func password() {
        let markup = Self.screens().signIn(Self.form, username: "mia", faults: [.wrong]).markup
        #expect(markup.components(of: "value=\"mia\"") == 1)
        #expect(markup.contains("type=\"password\" autocomplete=\"current-password\""))
    }

    @Test("Google's consent says what Google asks to be said; others' does not")
    func google() {
        func markup(_ isGoogle: Bool) -> String {
            Self.screens().consent(
                .init(
                    client: isGoogle ? "Google" : "Alexa", scopes: ["See your devices"], user: "Mia",
                    isGoogle: isGoogle, privacyURL: nil), form: Self.form
            ).markup
        }
        #expect(markup(true).contains("Agree and link") && markup(true).contains("Google to control your devices"))
        #expect(!markup(false).contains("Agree and link") && !markup(false).contains("control your devices"))
        for page in [markup(true), markup(false)] {
            #expect(page.contains("Cancel") && page.contains("Use another account"))
        }
    }
}

extension String {
    fileprivate func components(of part: String) -> Int {
        split(separator: part, omittingEmptySubsequences: false).count - 1
    }
}
