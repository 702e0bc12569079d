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
                return SimulatedPage.redirect(to: target)
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
            let name = SimulatedPage.escaped(account.name)
            return "<p><button name=\"account\" value=\"\(name)\">Allow as \(name), at home in "
                + "\(account.home.rawValue)</button></p>"
        }.joined()
        return SimulatedPage.answer(
            of: title, "Link the skill?",
            """
            <p>Amazon asks whether the skill may use an account of the company's.</p>
            <form method="post" action="\(LinkingEndpoint.loginPath)">
            <input type="hidden" name="address" value="\(SimulatedPage.escaped(address))">\(buttons)
            <p><button name="account" value="" class="no">Cancel</button></p></form>
            """)
    }
}
