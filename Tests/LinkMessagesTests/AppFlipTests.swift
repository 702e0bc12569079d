import JSON
import LinkMessages
import TestSupport
import Testing

@Suite("App Flip") struct AppFlipTests {
    static let chromecast = "https://oauth-redirect.googleusercontent.com/a/com.google.Chromecast"
    static let link = "https://app.example/flip?client_id=google&state=S%261&redirect_uri="
    static let escaped = "https%3A%2F%2Foauth-redirect.googleusercontent.com%2Fa%2Fcom.google.Chromecast"

    static func escape(_ text: String) -> String {
        text.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    @Test("the built-in addresses are those of the shared list", .needsFixture(LinkStateTests.fixture))
    func sharedAddresses() throws {
        let registered = try LinkStateTests.vectors("registered_redirect_uris").compactMap(\.string)
        let google = registered.filter { $0.contains(".googleusercontent.com/a/") }
        #expect(Set(AppFlip.appAddresses(sandbox: true)) == Set(google))
        #expect(AppFlip.appAddresses(sandbox: true).count == 12)
    }

    @Test(
        "the shared redirects are taken where Google's, and everything else is refused",
        .needsFixture(LinkStateTests.fixture))
    func sharedRedirects() throws {
        let vectors = try LinkStateTests.vectors("redirect_uris")
        #expect(vectors.count >= 25)
        var taken = 0
        for vector in vectors {
            let uri = try #require(vector["uri"]?.string)
            let isOurs = vector["ok"]?.bool == true && uri.contains("googleusercontent")
            let request = try? AppFlipRequest(parsing: Self.link + Self.escape(uri), clientID: "google")
            #expect((request?.redirectURI == uri) == isOurs, "\(uri)")
            if request != nil { taken += 1 }
        }
        #expect(taken == 12)
    }

    @Test("without the sandbox there are six, and its addresses are refused")
    func production() {
        #expect(AppFlip.appAddresses(sandbox: false).count == 6)
        for address in AppFlip.appAddresses(sandbox: true) {
            let request = try? AppFlipRequest(
                parsing: Self.link + Self.escape(address), clientID: "google", sandbox: false)
            #expect((request != nil) == AppFlip.appAddresses(sandbox: false).contains(address))
            #expect((request != nil) != address.contains("sandbox"))
        }
        #expect(
            AppFlip.browserAddresses(projectID: "P", sandbox: true) == [
                "https://oauth-redirect.googleusercontent.com/r/P",
                "https://oauth-redirect-sandbox.googleusercontent.com/r/P",
            ])
    }

    @Test(
        "scopes are optional, joined by %20 or +, and other parameters are ignored",
        arguments: [
            ("", []), ("&scope=", []), ("&scope=a", ["a"]), ("&scope=a+b", ["a", "b"]), ("&scope=a%20b", ["a", "b"]),
            ("&scope=a%2Bb++c", ["a+b", "c"]), ("&response_type=code&x=1&x=2&scope=a", ["a"]),
        ] as [(String, [String])])
    func scopes(rest: String, scopes: [String]) throws {
        let request = try AppFlipRequest(parsing: Self.link + Self.escaped + rest, clientID: "google")
        #expect(request.scopes == scopes)
        #expect(request.state == "S&1")
        #expect(request.clientID == "google")
        #expect(request.redirectURI == Self.chromecast)
    }

    @Test(
        "nothing is opened where the redirect is not Google's",
        arguments: [
            ("", .redirectRefused), ("HTTPS" + Self.chromecast.dropFirst(5), .redirectRefused),
            (Self.chromecast + "/", .redirectRefused), (Self.chromecast + "?x=1", .redirectRefused),
            (Self.chromecast + "#f", .redirectRefused), ("https://evil.example/", .redirectRefused),
            (Self.chromecast.replacing("/a/", with: "/r/"), .redirectRefused),
            (Self.chromecast.replacing("Chromecast", with: "chromecast"), .redirectRefused),
        ] as [(String, AppFlipFault)])
    func foreign(uri: String, fault: AppFlipFault) {
        #expect(throws: fault) { try AppFlipRequest(parsing: Self.link + Self.escape(uri), clientID: "google") }
        #expect(fault.resultURL == nil)
    }

    @Test("neither where it is missing, comes twice or cannot be read")
    func unreadable() {
        let twice = Self.link + Self.escaped + "&redirect_uri=" + Self.escaped
        let texts: [(String, AppFlipFault)] = [
            ("https://app.example/flip?client_id=google&state=S", .redirectMissing),
            ("https://app.example/", .redirectMissing),
            (twice, .redirectRefused), (Self.link + Self.escaped + "%", .malformed),
            (Self.link + Self.escaped + "&x=" + String(repeating: "a", count: 8192), .malformed),
        ]
        for (text, fault) in texts {
            #expect(throws: fault) { try AppFlipRequest(parsing: text, clientID: "google") }
            #expect(fault.resultURL == nil)
        }
    }

    @Test(
        "a faulty request for Google's redirect is answered there",
        arguments: [
            ("client_id=other&state=S", .wrongClient, "S"), ("client_id=Google&state=S", .wrongClient, "S"),
            ("state=S", .noClient, "S"), ("client_id=google", .noState, nil),
            ("client_id=google&state=", .noState, nil),
            ("client_id=google&client_id=google&state=S", .repeated, "S"),
            ("client_id=google&state=S&scope=a&scope=a", .repeated, "S"),
            ("client_id=google&state=S&state=S", .repeated, nil),
        ] as [(String, AppFlipFault.Problem, String?)])
    func invalid(query: String, problem: AppFlipFault.Problem, state: String?) {
        let fault = AppFlipFault.invalid(problem, redirectURI: Self.chromecast, state: state)
        #expect(throws: fault) {
            try AppFlipRequest(parsing: "?\(query)&redirect_uri=\(Self.escaped)", clientID: "google")
        }
        #expect(fault.resultURL == Self.chromecast + "?error=invalid_request" + (state.map { "&state=\($0)" } ?? ""))
    }

    @Test("results go back with the state, each value escaped")
    func results() throws {
        let request = try AppFlipRequest(parsing: Self.link + Self.escaped, clientID: "google")
        #expect(request.url(for: .code("a b/c")) == Self.chromecast + "?code=a%20b%2Fc&state=S%261")
        let errors: [AppFlipError: (String, Bool)] = [
            .cancelled: ("cancelled", true), .invalidRequest: ("invalid_request", true),
            .unrecoverable: ("unrecoverable", false), .accessDenied: ("access_denied", false),
        ]
        #expect(errors.count == AppFlipError.allCases.count)
        for (error, (word, isRecoverable)) in errors {
            #expect(error.isRecoverable == isRecoverable)
            #expect(request.url(for: .error(error, description: nil)) == Self.chromecast + "?error=\(word)&state=S%261")
        }
        #expect(
            request.url(for: .error(.cancelled, description: "No & yes"))
                == Self.chromecast + "?error=cancelled&error_description=No%20%26%20yes&state=S%261")
    }
}
