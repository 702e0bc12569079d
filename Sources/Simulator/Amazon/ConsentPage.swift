import HTTP

/// Login with Amazon's consent as a page, so that a browser can go through it: one button for each customer, one for no.
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
            } catch { return HTTPResponse(status: 400, body: Array("Refused: \(error.rule)".utf8)) }
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
            } catch { return HTTPResponse(status: 400, body: Array("Refused: \(error.rule)".utf8)) }
        default: return HTTPResponse(status: 405)
        }
    }

    private func page(_ address: String) -> HTTPResponse {
        let buttons = linking.accounts.map { account in
            #"<p><button name="account" value="\#(Self.escaped(account.name))">Allow as \#(Self.escaped(account.name))</button></p>"#
        }.joined()
        let html =
            #"<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Sign in with Amazon (simulated)</title>"#
            + #"</head><body><h1>Link the skill?</h1><form method="post" action="\#(LinkingEndpoint.loginPath)">"#
            + #"<input type="hidden" name="address" value="\#(Self.escaped(address))">"#
            + buttons + #"<p><button name="account" value="">Cancel</button></p></form></body></html>"#
        return HTTPResponse(
            status: 200, fields: ["Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store"],
            body: Array(html.utf8))
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("\"", with: "&quot;").replacing("<", with: "&lt;")
    }
}
