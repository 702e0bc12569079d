import Crypto
import HTTP

/// Answers to browsers: pages and redirects with the header fields that keep them from being framed, kept or leaked.
struct PageAnswers: Sendable {
    let frame: PageFrame
    /// Where forms may lead besides, on every page: the company's provider, when users sign in there.
    var signInURL: String?

    /// A page; `form` is an origin besides our own that the page's form may lead to.
    ///
    /// Browsers hold a form's redirects against the policy too, so the client's origin is named (PRO-5).
    func page(
        _ language: PageLanguage, status: Int = 200, form: String? = nil, cookie: String? = nil,
        retryAfter seconds: Int64? = nil, _ screen: (Screens) -> HTML
    ) -> HTTPResponse {
        let nonce = SecureRandom.token(bytes: 16)
        let markup = screen(Screens(frame: frame, language: language, nonce: nonce)).markup
        var response = HTTPResponse(status: status, fields: Self.fields, body: Array(markup.utf8))
        response.fields["Content-Type"] = "text/html; charset=utf-8"
        response.fields["Content-Language"] = language.rawValue
        response.fields["Vary"] = "Accept-Language, Cookie"
        response.fields["Content-Security-Policy"] =
            "default-src 'none'; style-src 'nonce-\(nonce)'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'; "
            + "form-action 'self'"
            + [form, signInURL.map(Self.origin)].compactMap(\.self).compactMap(Self.source).map { " " + $0 }.joined()
        response.fields["X-Frame-Options"] = "DENY"
        response.fields["X-Content-Type-Options"] = "nosniff"
        response.fields["Retry-After"] = seconds.map { String($0) }
        if let cookie { response.fields.append("Set-Cookie", cookie) }
        return response
    }

    /// A redirect that the browser follows by GET, whatever it sent (RFC 9700 §4.12).
    func redirect(to address: String, cookie: String? = nil) -> HTTPResponse {
        var response = HTTPResponse(status: 303, fields: Self.fields)
        response.fields["Location"] = address
        if let cookie { response.fields.append("Set-Cookie", cookie) }
        return response
    }

    private static let fields: HTTPFields = [
        "Cache-Control": "no-store", "Pragma": "no-cache", "Referrer-Policy": "no-referrer",
    ]

    /// The origin of an address.
    static func origin(of url: String) -> String {
        let scheme = url.prefix { $0 != ":" }
        return scheme + "://" + url.dropFirst(scheme.count + 3).prefix { $0 != "/" && $0 != "?" }
    }

    /// The origin as a source of a policy; nil where a character of it would end the directive.
    private static func source(_ origin: String) -> String? {
        let isPlain = origin.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x3B && $0 != 0x2C && $0 != 0x27 }
        return isPlain && !origin.isEmpty ? origin : nil
    }
}

extension PageAnswers {
    /// The language that the browser asks for.
    func language(_ request: HTTPRequest) -> PageLanguage {
        PageLanguage(wished: [], acceptLanguage: request.fields["Accept-Language"])
    }

    /// A page that says one thing.
    func message(
        _ title: PageText, _ lead: PageText, status: Int, goOn: String? = nil, retryAfter: Int64? = nil,
        _ request: HTTPRequest
    ) -> HTTPResponse {
        page(language(request), status: status, retryAfter: retryAfter) { $0.message(title, lead, goOn: goOn) }
    }

    /// The page that asks to wait.
    func busy(_ request: HTTPRequest) -> HTTPResponse {
        message(.busyTitle, .busyLead, status: 503, retryAfter: 5, request)
    }
}
