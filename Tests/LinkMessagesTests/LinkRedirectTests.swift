import JSON
import LinkMessages
import TestSupport
import Testing

@Suite("What Amazon sends back") struct LinkRedirectTests {
    @Test("the shared vectors are judged as they say", .needsFixture(LinkStateTests.fixture))
    func shared() throws {
        let vectors = try LinkStateTests.vectors("returned_urls")
        #expect(vectors.count >= 15)
        for vector in vectors {
            let url = try #require(vector["url"]?.string)
            let known = try #require(vector["known_state"]?.string)
            let redirect = try? LinkRedirect(parsing: url)
            let comment = Comment(rawValue: url)
            switch vector["expect"]?.string {
            case "invalid": #expect(redirect == nil, comment)
            case "bad-state": #expect(redirect != nil && redirect?.state != known, comment)
            case "code":
                let code = try #require(vector["code"]?.string)
                #expect(redirect == .code(code, state: known, scope: nil), comment)
            case "error":
                guard case .error(let error, let description?, known) = redirect else {
                    Issue.record(comment)
                    continue
                }
                #expect(error == vector["error"]?.string && !description.isEmpty, comment)
                #expect((LinkErrorKind(redirectError: error) != .declined) == vector["show"]?.bool, comment)
            // Two that the vectors leave open: RFC 6749 decides, and the sample's way is a choice.
            case "debatable": #expect(redirect?.state == known, comment)
            default: Issue.record("unknown expectation: \(url)")
            }
        }
        let silent = "https://app.example/link?error=access_denied&state=S1"
        #expect(throws: LinkRedirectFault.missing("error_description")) {
            try LinkRedirect(parsing: silent, strict: true)
        }
    }

    @Test(
        "a code and its state are read out of whatever holds them",
        arguments: [
            "https://app.example/cb?code=c%2B1&state=S.-_", "code=c%2B1&state=S.-_", "?code=c%2B1&state=S.-_",
            "/alexa/cb?state=S.-_&code=c%2B1", "https://app.example/cb?tenant=1&code=c%2B1&state=S.-_#code=x",
            "myapp:?code=c%2B1&state=S%2E-_", "code=c%2b1&&state=S.-_&next=https://x.example/?code=2",
            "https://app.example/cb?x=https://y.example/?z&code=c%2B1&state=S.-_&source=app",
        ])
    func code(text: String) throws {
        #expect(try LinkRedirect(parsing: text) == .code("c+1", state: "S.-_", scope: nil))
    }

    @Test("Login with Amazon's scope is handed on")
    func scope() throws {
        let redirect = try LinkRedirect(
            parsing: "https://a.example/?code=c&scope=alexa::skills:account_linking&state=S")
        #expect(redirect == .code("c", state: "S", scope: LinkAddresses.scope))
    }

    @Test("an error is read, with or without a description")
    func errors() throws {
        #expect(
            try LinkRedirect(parsing: "error=server_error&error_description=It+broke%21%20%C3%A4&state=S")
                == .error("server_error", description: "It broke! ä", state: "S"))
        #expect(
            try LinkRedirect(parsing: "error=access_denied&state=S")
                == .error("access_denied", description: nil, state: "S"))
        #expect(
            try LinkRedirect(parsing: "error=%3Cscript%3E&error_description=&state=S")
                == .error("<script>", description: "", state: "S"))
    }

    @Test(
        "LNK-8: what is no answer is refused, with its reason",
        arguments: [
            ("error=access_denied", .missing("state"), "link.redirectIncomplete"),
            ("https://app.example/cb", .missing("code"), "link.redirectIncomplete"),
            ("https://app.example/cb?", .missing("code"), "link.redirectIncomplete"),
            ("", .missing("code"), "link.redirectIncomplete"),
            ("state=S", .missing("code"), "link.redirectIncomplete"),
            ("https://a.example/cb#code=c&state=S", .missing("code"), "link.redirectIncomplete"),
            ("a.example/cb?code=c&state=S", .missing("code"), "link.redirectIncomplete"),
            ("Code=c&State=S", .missing("code"), "link.redirectIncomplete"),
            ("code=c&state=", .empty("state"), "link.redirectEmpty"),
            ("code&state=S", .empty("code"), "link.redirectEmpty"),
            ("code=%00&state=S", .empty("code"), "link.redirectEmpty"),
            ("code=c&state=S%0D%0Ax", .empty("state"), "link.redirectEmpty"),
            ("error=&state=S", .empty("error"), "link.redirectEmpty"),
            ("error=%C3%A4&state=S", .empty("error"), "link.redirectEmpty"),
            ("code=c&code=c&state=S", .repeated("code"), "link.redirectRepeated"),
            ("code=c&state=S&stat%65=T", .repeated("state"), "link.redirectRepeated"),
            ("error=a&error=b&state=S", .repeated("error"), "link.redirectRepeated"),
            ("code=c&scope=a&scope=b&state=S", .repeated("scope"), "link.redirectRepeated"),
            (
                "error=a&error_description=a&error_description=b&state=S", .repeated("error_description"),
                "link.redirectRepeated"
            ),
            ("code=c&error=e&state=S", .codeAndError, "link.redirectContradicts"),
            ("code=%4&state=S", .malformed, "link.redirectMalformed"),
            ("code=%zz&state=S", .malformed, "link.redirectMalformed"),
            ("code=%C3%28&state=S", .malformed, "link.redirectMalformed"),
            ("code=ä&state=S", .malformed, "link.redirectMalformed"),
            ("code=c d&state=S", .malformed, "link.redirectMalformed"),
            (String(repeating: "a", count: 8193), .tooLong, "link.redirectTooLong"),
        ] as [(String, LinkRedirectFault, String)])
    func refused(text: String, fault: LinkRedirectFault, code: String) {
        #expect(throws: fault) { try LinkRedirect(parsing: text) }
        #expect(fault.reasonCode == code)
    }

    @Test(
        "strict refuses what the sample for apps refuses",
        arguments: [
            ("code=c&state=S&source=app", .unknown), ("x=1&x=2&code=c&state=S", .unknown),
            ("error=access_denied&state=S", .missing("error_description")),
            ("error=access_denied&error_description=x&scope=y&state=S", .unknown),
            ("code=c&state=S&error_description=x", .unknown),
        ] as [(String, LinkRedirectFault)])
    func strict(text: String, fault: LinkRedirectFault) throws {
        #expect(throws: fault) { try LinkRedirect(parsing: text, strict: true) }
        #expect(try LinkRedirect(parsing: text).state == "S")
        #expect(throws: Never.self) { try LinkRedirect(parsing: "code=c&state=S&scope=x", strict: true) }
    }

    @Test("each error that Amazon names means what its page says")
    func meanings() {
        let meanings: [String: LinkErrorKind] = [
            "invalid_request": .problem, "unauthorized_client": .problem, "access_denied": .declined,
            "unsupported_response_type": .problem, "invalid_scope": .problem, "server_error": .unexpected,
            "temporarily_unavailable": .momentary, "anything": .problem, "": .problem,
        ]
        for (error, kind) in meanings { #expect(LinkErrorKind(redirectError: error) == kind, "\(error)") }
    }

    @Test("an address is a return only to exactly its redirect URL")
    func returns() {
        let plain = "https://app.example/cb"
        let tenant = "https://app.example/cb?tenant=1"
        #expect(LinkRedirect.isReturn("https://app.example/cb?code=c&state=S", to: plain))
        #expect(LinkRedirect.isReturn("https://app.example/cb?tenant=1&code=c&state=S#x", to: tenant))
        for url in [
            "https://app.example/cb", "https://app.example/cb/?code=c", "https://app.example/CB?code=c",
            "http://app.example/cb?code=c", "https://app.example/cb&code=c", "https://app.example/cb#?code=c",
            "https://app.example/cb2?code=c", "code=c&state=S",
        ] {
            #expect(!LinkRedirect.isReturn(url, to: plain), "\(url)")
        }
        #expect(!LinkRedirect.isReturn("https://app.example/cb?tenant=12&code=c", to: tenant))
        #expect(!LinkRedirect.isReturn("https://app.example/cb?code=c&tenant=1", to: tenant))
    }
}
