import AppLinking
import Foundation
import LinkMessages
import Testing

/// What an app keeps for linking with Alexa.
struct AlexaLinking: Sendable {
    let states: StateHelper
    let client: LinkClient
    let handler: AlexaLinkHandler

    init(service: URL, redirect: String, stateFile: URL, token: @escaping @Sendable () async -> String?) {
        states = StateHelper(store: FileStateStore(url: stateFile))
        client = LinkClient(baseURL: service, token: token)
        handler = AlexaLinkHandler(redirectURIs: [redirect], states: states)
    }

    /// Before the user leaves for Amazon.
    func start() async throws -> LinkStart {
        try await client.start(state: try await states.generateState())
    }

    /// When a link opened the app; nil where it is another link of the app's.
    func finish(_ url: URL) async throws -> LinkScreen? {
        switch try await handler.handle(url) {
        case .other: return nil
        case .complete(let back):
            do {
                return .status(try await client.complete(.redirect(back)).status)
            } catch {
                return error.userMessage.map { .message($0, error.retry) } ?? .start
            }
        case .declined(let back):
            // The user said no and knows it. The service closes the attempt.
            _ = try? await client.complete(.redirect(back))
            return .start
        case .failed(let kind, let back):
            _ = try? await client.complete(.redirect(back))
            return kind.userMessage(LinkLanguage()).map { .message($0, kind.retry) }
        case .refused(let refusal): return .message(refusal.userMessage(LinkLanguage()), .now)
        }
    }
}

/// What the app shows.
enum LinkScreen: Equatable {
    case start
    case status(LinkStatus)
    case message(String, LinkRetry)
}

func decide(
    _ decision: AppFlipDecision, _ request: AppFlipRequest, client: LinkClient
) async -> (url: URL?, message: String?) {
    let answer = await client.answer(request, decision: decision)
    let consent = AppFlipConsent(company: "Acme", user: "Jo Doe")
    return (answer.openURL, answer.isLinked ? consent.success : nil)
}

@Suite("The documentation's code", .timeLimit(.minutes(5))) struct GettingStartedTests {
    private static func lines(_ text: String) -> [String] {
        text.components(separatedBy: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    @Test(
        "what the pages call compiled stands in this file, line for line",
        arguments: ["GettingStarted", "AppFlipScreen"])
    func pages(name: String) throws {
        let here = URL(fileURLWithPath: #filePath)
        let package = here.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let source = Self.lines(try String(contentsOf: here, encoding: .utf8))
        let page = try String(
            contentsOf: package.appendingPathComponent("Sources/AppLinking/AppLinking.docc/\(name).md"), encoding: .utf8
        )
        let blocks = page.components(separatedBy: "```swift\n").dropFirst()
        #expect(blocks.count == 1)
        for block in blocks {
            let code = Self.lines(block.components(separatedBy: "```")[0])
            let first = try #require(source.firstIndex(of: code[0]))
            #expect(Array(source[first...].prefix(code.count)) == code)
        }
    }

    private static let redirect = "https://app.example/link"

    private static func linking(_ server: LinkServer) throws -> (linking: AlexaLinking, file: URL) {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("states-\(UUID().uuidString).json")
        return (AlexaLinking(service: try server.url(), redirect: redirect, stateFile: file) { "user-token" }, file)
    }

    @Test("the whole way: the state goes out, comes back, and the address is posted")
    func wholeWay() async throws {
        let server = try LinkServer { request in
            if request.line.hasPrefix("GET") {
                // The service gives back the state that it was given.
                let state = request.line.components(separatedBy: "state=")[1].components(separatedBy: " ")[0]
                return ("200 OK", LinkClientTests.startAnswer.replacingOccurrences(of: "made-by-server", with: state))
            }
            if request.body.contains("ANused") {
                return ("409 Conflict", #"{"userMessage":"Please start again.","retry":"now"}"#)
            }
            return ("200 OK", #"{"status":"LINKED"}"#)
        }
        let (linking, file) = try Self.linking(server)
        defer { try? FileManager.default.removeItem(at: file) }
        func back(_ query: String) async throws -> LinkScreen? {
            let state = try await linking.start().state
            return try await linking.finish(try #require(URL(string: "\(Self.redirect)?\(query)&state=\(state)")))
        }
        #expect(try await back("code=AN1") == .status(.linked))
        #expect(server.requests.last?.body.contains("AN1") == true)
        #expect(try await back("code=ANused") == .message("Please start again.", .now))
        #expect(try await back("error=access_denied") == .start)
        #expect(server.requests.last?.body.contains("access_denied") == true)
        #expect(
            try await back("error=server_error")
                == .message(try #require(LinkErrorKind.unexpected.userMessage(LinkLanguage())), .now))
        let posted = server.requests.count
        let foreign = try #require(URL(string: "\(Self.redirect)?code=ANother&state=someone-elses"))
        #expect(
            try await linking.finish(foreign)
                == .message(AlexaLinkRefusal.stateUnknown.userMessage(LinkLanguage()), .now))
        #expect(try await linking.finish(try #require(URL(string: "https://app.example/news"))) == nil)
        #expect(server.requests.count == posted)
    }

    @Test("after a decision there is an address to open, and words where it is a success")
    func decision() async throws {
        let server = try LinkServer { _ in
            ("200 OK", #"{"openURL":"\#(AppFlipScreenTests.google)?code=c&state=S%261"}"#)
        }
        let request = try AppFlipScreenTests.request()
        let (url, message) = await decide(.agree, request, client: try server.client())
        #expect(url?.absoluteString == AppFlipScreenTests.google + "?code=c&state=S%261")
        #expect(message == AppFlipConsent(company: "Acme", user: "Jo Doe").success)
    }
}
