import HTTP
import Service
import TestSupport
import Testing
import Time

/// A browser at the whole service: it keeps the cookie, and sends the forms that it was shown.
final class Browser {
    static let alexaURI = "https://layla.amazon.com/api/skill/link/MDEVELOPMENT"
    static let path = "/oauth/authorize"

    let running: ServiceTests.Running
    /// The session.
    var cookie: String?
    /// The other cookies, by name.
    var others: [String: String] = [:]
    var address = "192.0.2.7"
    var fields: HTTPFields = [:]

    init(_ running: ServiceTests.Running) { self.running = running }

    /// The address that Alexa sends the user to.
    static func request(_ changes: [String: String?] = [:]) -> String {
        var form = Form()
        let standard = [
            ("response_type", "code"), ("client_id", "alexa"), ("redirect_uri", alexaURI), ("scope", "profile"),
            ("state", "s+1="),
        ]
        for (name, value) in standard { form.append(name, changes[name] ?? value) }
        for (name, value) in changes.sorted(by: { $0.key < $1.key }) where !standard.contains(where: { $0.0 == name }) {
            form.append(name, value)
        }
        return path + "?" + form.encodedText
    }

    func get(_ target: String) async -> Page { await send(.get, target, "") }

    func post(_ target: String = path, _ items: [(String, String)]) async -> Page {
        var form = Form()
        for (name, value) in items { form.append(name, value) }
        return await send(.post, target, form.encodedText)
    }

    /// Sends the form of a page, filled in.
    func submit(_ page: Page, _ items: [(String, String)]) async -> Page {
        await post(page.action ?? Self.path, page.hidden + items)
    }

    /// Sends the sign-in form of a page.
    func signIn(_ page: Page, _ username: String = "alice", _ password: String = "alice-password") async -> Page {
        await submit(page, [("username", username), ("password", password)])
    }

    private func send(_ method: HTTPMethod, _ target: String, _ body: String) async -> Page {
        var fields = fields
        let cookies = [cookie].compactMap(\.self) + others.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        if !cookies.isEmpty { fields["Cookie"] = cookies.joined(separator: "; ") }
        if method == .post { fields["Content-Type"] = "application/x-www-form-urlencoded" }
        let response = await running.service.router.respond(
            to: HTTPRequest(
                method: method, target: target, fields: fields, body: Array(body.utf8), peerAddress: address,
                deadline: running.clock.deadline()))
        for line in response.fields.values("Set-Cookie") {
            let pair = line.prefix { $0 != ";" }
            let name = String(pair.prefix { $0 != "=" })
            if name == "skillgate" {
                cookie = String(pair)
            } else {
                others[name] = line.contains("Max-Age=0") ? nil : String(pair.dropFirst(name.count + 1))
            }
        }
        return Page(response)
    }

    /// An answer as the browser sees it.
    struct Page {
        let response: HTTPResponse

        init(_ response: HTTPResponse) { self.response = response }

        var status: Int { response.status }
        var text: String { String(decoding: response.body, as: UTF8.self) }
        var location: String? { response.fields["Location"] }
        var policy: String { response.fields["Content-Security-Policy"] ?? "" }
        var action: String? { value(after: "action=\"", in: text[...]) }
        /// What the address that the browser is led to has in its query.
        var answer: Form? { location.flatMap { Form(decoding: $0.drop { $0 != "?" }.dropFirst()) } }
        /// Whether it is the page to sign in, to consent, or none of them.
        var isSignIn: Bool { status == 200 && text.contains("name=\"password\"") }
        var isConsent: Bool { status == 200 && text.contains("value=\"agree\"") }
        /// Where the page's link leads.
        var link: String? {
            text.ranges(of: "class=\"button\" href=\"").first.flatMap { range in
                text[range.upperBound...].split(separator: "\"").first.map {
                    String($0).replacing("&amp;", with: "&")
                }
            }
        }
        /// The hidden fields of the first form.
        var hidden: [(String, String)] {
            let form = text.firstRange(of: "</form>").map { text[..<$0.lowerBound] } ?? text[...]
            return form.split(separator: "<input type=\"hidden\" ").dropFirst().compactMap { part in
                guard let name = value(after: "name=\"", in: part), let value = value(after: "value=\"", in: part)
                else { return nil }
                return (name, value)
            }
        }

        private func value(after mark: String, in text: Substring) -> String? {
            text.firstRange(of: mark).map { range in
                String(text[range.upperBound...].prefix { $0 != "\"" }).replacing("&amp;", with: "&")
            }
        }
    }
}
