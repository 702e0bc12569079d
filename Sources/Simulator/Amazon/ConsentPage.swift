import Alexa
import HTTP

/// The consent of the Alexa app and of Login with Amazon as a page, so that a browser can go through it: one button for each
/// customer, one for no.
struct ConsentPage: Sendable {
    let linking: LinkingEndpoint

    /// Shows the page, or takes its answer and leads back.
    func answer(_ request: HTTPRequest) -> HTTPResponse {
        switch request.method {
        case .get:
            do throws(LinkingRefusal) {
                // Judged by an answer that changes nothing, so that a wrong address is seen at once.
                _ = try linking.consent(to: request.target, account: AmazonAccount(name: "nobody"), error: "none")
                return page(request.target)
            } catch { return Self.refused(error) }
        case .post:
            guard let form = Form(decoding: String(decoding: request.body, as: UTF8.self)),
                let address = form["address"]
            else { return HTTPResponse(status: 400) }
            let account = linking.accounts.first { $0.name == form["account"] }
            do throws(LinkingRefusal) {
                let target = try linking.consent(
                    to: address, account: account ?? AmazonAccount(name: "nobody"),
                    error: account == nil ? "access_denied" : nil)
                return HTTPResponse(status: 303, fields: ["Location": target, "Cache-Control": "no-store"])
            } catch { return Self.refused(error) }
        default: return HTTPResponse(status: 405)
        }
    }

    private static func refused(_ refusal: LinkingRefusal) -> HTTPResponse {
        HTTPResponse(
            status: 400, fields: ["Content-Type": "text/plain; charset=utf-8"],
            body: Array("Amazon refuses the address: \(refusal.rule)\n".utf8))
    }

    private func page(_ address: String) -> HTTPResponse {
        let isApp = address.hasPrefix(LinkingEndpoint.alexaAppPath)
        let title = isApp ? "The Alexa app (simulated)" : "Login with Amazon (simulated)"
        let buttons = linking.accounts.map { account in
            let name = Self.escaped(account.name)
            return "<p><button name=\"account\" value=\"\(name)\">Allow as \(name), at home in "
                + "\(account.home.rawValue)</button></p>"
        }.joined()
        let html = """
            <!doctype html><html lang="en"><head><meta charset="utf-8"><title>\(title)</title>
            <meta name="viewport" content="width=device-width, initial-scale=1"><style>\(Self.style)</style></head>
            <body><main><p class="quiet">\(title)</p><h1>Link the skill?</h1>
            <p>Amazon asks whether the skill may use an account of the company's.</p>
            <form method="post" action="\(LinkingEndpoint.loginPath)">
            <input type="hidden" name="address" value="\(Self.escaped(address))">\(buttons)
            <p><button name="account" value="" class="no">Cancel</button></p></form></main></body></html>
            """
        return HTTPResponse(
            status: 200,
            fields: [
                "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store", "X-Frame-Options": "DENY",
                "Referrer-Policy": "no-referrer",
            ], body: Array(html.utf8))
    }

    private static let style = """
        :root{color-scheme:light dark}body{font:17px/1.5 system-ui,sans-serif;margin:0;padding:24px 16px}
        main{max-width:440px;margin:auto}h1{font-size:24px;margin:0 0 8px}.quiet{opacity:.75;margin:0}
        button{font:inherit;width:100%;min-height:48px;padding:10px 16px;border:0;border-radius:10px;background:#1f6feb;color:#fff}
        button.no{background:none;color:inherit;border:1px solid}
        """

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("\"", with: "&quot;").replacing("<", with: "&lt;")
    }
}
