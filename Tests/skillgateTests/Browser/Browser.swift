import Crypto
import FoundationEssentials
import HTTP
import JSON
import Testing
import Time
import Transport

/// Chromium as a user has it before them, driven over the WebDriver protocol (W3C WebDriver) by its chromedriver.
///
/// Every window is as wide as it says, whatever the least width of a desktop's windows is.
final class Browser: Sendable {
    /// How a page is looked at.
    struct View: Sendable, CustomStringConvertible {
        var width = 1280
        var height = 900
        var isDark = false
        var language = "en-US"

        static let desktop = View()
        static let phone = View(width: 390, height: 844)

        /// The same view in the dark.
        var dark: View {
            var view = self
            view.isDark = true
            return view
        }

        var description: String { "\(width < 600 ? "phone" : "desktop")-\(isDark ? "dark" : "light")" }
    }

    /// What chromedriver answers to a command that cannot be done.
    struct Fault: Error {
        var code = ""
        let message: String

        /// Whether the page went while it was asked, so that the same question suits the next one.
        var isOfPageThatWent: Bool {
            code == "stale element reference"
                || ["aborted by navigation", "document unloaded", "execution context"].contains { message.contains($0) }
        }
    }

    private static let driver = "/usr/bin/chromedriver"
    /// Whether both programs are there; `config/test.sh` installs them.
    static let isInstalled =
        FileManager.default.isExecutableFile(atPath: driver)
        && FileManager.default.isExecutableFile(atPath: "/usr/bin/chromium")

    private let process: ProgramRun
    private let group: EventLoopGroup
    private let client: CurlClient
    private let session: String

    /// What `body` does with a browser that has no history, which is closed after it.
    static func with<Result>(
        _ view: View = .desktop, _ body: (Browser) async throws -> Result
    ) async throws -> Result {
        let browser = try await Browser(view)
        do {
            let result = try await body(browser)
            await browser.close()
            return result
        } catch {
            await browser.close()
            throw error
        }
    }

    private init(_ view: View) async throws {
        let port: String
        (process, port) = try await Self.started()
        group = try EventLoopGroup(threads: 1)
        client = CurlClient(group: group)
        let origin = "http://127.0.0.1:\(port)/session"
        let arguments: JSONValue = [
            "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu",
            .string("--lang=\(view.language)"), .string("--accept-lang=\(view.language)"),
        ]
        let options: JSONValue = [
            "args": arguments, "prefs": ["intl.accept_languages": .string(view.language)],
        ]
        let made = try await Self.command(
            client, "POST", origin,
            ["capabilities": ["alwaysMatch": ["browserName": "chrome", "goog:chromeOptions": options]]])
        guard let id = made["sessionId"]?.string else { throw Fault(message: "no session") }
        session = origin + "/" + id
        // An element that a page brings in a moment is waited for.
        _ = try await send("POST", "/timeouts", ["implicit": 60_000, "pageLoad": 60_000])
        try await emulate(view)
    }

    /// A driver that runs, and its port.
    ///
    /// It takes a free port of IPv4 and then the same of IPv6, which may be somebody else's by then: it ends, and is
    /// started again.
    private static func started() async throws -> (ProgramRun, port: String) {
        var said: [String] = []
        for _ in 0..<5 {
            // On a pipe it would keep to itself what it says.
            let process = try ProgramRun(["--port=0"], of: driver, terminal: true)
            while true {
                let line = await process.line()
                if line.isEmpty { break }
                said.append(line)
                guard line.contains("successfully"), let port = line.split(separator: " ").last else { continue }
                return (process, port.filter(\.isNumber))
            }
            _ = await process.end()
        }
        throw Fault(message: "chromedriver does not start: " + said.joined(separator: " "))
    }

    private func close() async {
        _ = try? await send("DELETE", "")
        // It starts with the signals blocked that are blocked here, so a milder one might not reach it.
        process.send(signal: 9)
        _ = await process.end()
        await client.shutdown()
        group.shutdown()
    }

    // MARK: - What a user does

    /// Goes to an address.
    func open(_ url: String) async throws { _ = try await send("POST", "/url", ["url": .string(url)]) }

    /// Goes back as by the button.
    func back() async throws { _ = try await send("POST", "/back", [:]) }

    /// Writes into the field that the selector finds, in place of what it held.
    func type(_ text: String, into selector: String) async throws {
        let element = try await element(selector)
        _ = try await send("POST", element + "/clear", [:])
        _ = try await send("POST", element + "/value", ["text": .string(text)])
    }

    /// Clicks what the selector finds, and waits for the page that follows.
    func click(_ selector: String) async throws { _ = try await send("POST", element(selector) + "/click", [:]) }

    /// Opens a tab and looks at it.
    func newTab() async throws {
        let tab = try await send("POST", "/window/new", ["type": "tab"])
        try await look(at: tab["handle"]?.string ?? "")
    }

    /// The tabs, in the order in which they were opened.
    func tabs() async throws -> [String] {
        try await send("GET", "/window/handles").array?.compactMap(\.string) ?? []
    }

    /// Looks at a tab.
    func look(at tab: String) async throws { _ = try await send("POST", "/window", ["handle": .string(tab)]) }

    // MARK: - What a user sees

    /// The address.
    func url() async throws -> String { try await send("GET", "/url").string ?? "" }

    /// The page's title.
    func title() async throws -> String { try await send("GET", "/title").string ?? "" }

    /// The visible text of what the selector finds.
    func text(_ selector: String = "body") async throws -> String {
        try await ofPage { try await send("GET", element(selector) + "/text").string ?? "" }
    }

    /// How many elements the selector finds now.
    func count(_ selector: String) async throws -> Int {
        let text = "return document.querySelectorAll(arguments[0]).length"
        return try await ofPage { try await script(text, [.string(selector)]).integer.map { Int($0) } ?? 0 }
    }

    /// What a script in the page returns.
    func script(_ text: String, _ arguments: [JSONValue] = []) async throws -> JSONValue {
        try await send("POST", "/execute/sync", ["script": .string(text), "args": .array(arguments)])
    }

    /// Asks the page that is there; where it goes in the middle, the one that follows.
    private func ofPage<Answer>(_ ask: () async throws -> Answer) async throws -> Answer {
        for _ in 0..<20 {
            do {
                return try await ask()
            } catch let fault as Fault where fault.isOfPageThatWent {
                continue
            }
        }
        return try await ask()
    }

    /// Asks until something is so.
    ///
    /// - Throws: ``Fault`` where it never is.
    func wait(_ what: String, until isSo: () async throws -> Bool) async throws {
        for _ in 0..<3000 { if try await isSo() { return } }
        throw Fault(message: "it never came that \(what): " + (try await url()))
    }

    /// Deletes every cookie of the page's host.
    func forgetCookies() async throws { _ = try await send("DELETE", "/cookie") }

    /// The page as a picture, PNG.
    func screenshot() async throws -> [UInt8] {
        Base64.decode(try await send("GET", "/screenshot").string ?? "") ?? []
    }

    // MARK: - The protocol

    private func emulate(_ view: View) async throws {
        try await chromium(
            "Emulation.setDeviceMetricsOverride",
            [
                "width": .integer(Int64(view.width)), "height": .integer(Int64(view.height)), "deviceScaleFactor": 1,
                "mobile": .bool(view.width < 600),
            ])
        try await chromium(
            "Emulation.setEmulatedMedia",
            ["features": [["name": "prefers-color-scheme", "value": view.isDark ? "dark" : "light"]]])
    }

    private func chromium(_ command: String, _ parameters: JSONValue) async throws {
        _ = try await send("POST", "/goog/cdp/execute", ["cmd": .string(command), "params": parameters])
    }

    private func element(_ selector: String) async throws -> String {
        let found = try await send("POST", "/element", ["using": "css selector", "value": .string(selector)])
        // The name that the protocol gives to the member with an element's id.
        guard let id = found["element-6066-11e4-a52e-4f735466cecf"]?.string else {
            throw Fault(message: "no element \(selector)")
        }
        return "/element/" + id
    }

    private func send(_ method: String, _ path: String, _ body: JSONValue? = nil) async throws -> JSONValue {
        try await Self.command(client, method, session + path, body)
    }

    private static func command(
        _ client: CurlClient, _ method: String, _ url: String, _ body: JSONValue?
    ) async throws -> JSONValue {
        let response = try await client.send(
            OutgoingRequest(
                method: HTTPMethod(rawValue: method), url: url, fields: ["Content-Type": "application/json"],
                body: body.map { $0.encoded() }, answerLimitBytes: 32 << 20), by: .after(.seconds(60), from: .now))
        let value = try JSONValue(parsing: response.body)["value"] ?? .null
        guard response.status == 200 else {
            let code = value["error"]?.string ?? ""
            throw Fault(code: code, message: "\(url): \(code): \(value["message"]?.string ?? "")")
        }
        return value
    }
}
