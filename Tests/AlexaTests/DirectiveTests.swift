import Alexa
import Crypto
import JSON
import TestSupport
import Testing

private func decodedDirective(_ text: String) throws -> Directive {
    try Directive(decoding: VerifiedRequest.invoked(with: Array(text.utf8)))
}

private func refusal(_ text: String) throws -> DirectiveRejection? {
    let verified = try VerifiedRequest.invoked(with: Array(text.utf8))
    do {
        _ = try Directive(decoding: verified)
        return nil
    } catch { return error }
}

/// A directive; members are JSON as they stand.
private func text(
    header: String =
        #""namespace":"Alexa.PowerController","name":"TurnOn","messageId":"M","correlationToken":"C","payloadVersion":"3""#,
    endpoint: String? = #"{"scope":{"type":"BearerToken","token":"T"},"endpointId":"E","cookie":{}}"#,
    payload: String? = "{}"
) -> String {
    let endpoint = endpoint.map { ",\"endpoint\":" + $0 } ?? ""
    let payload = payload.map { ",\"payload\":" + $0 } ?? ""
    return "{\"directive\":{\"header\":{\(header)}\(endpoint)\(payload)}}"
}

private let grantHeader =
    #""namespace":"Alexa.Authorization","name":"AcceptGrant","messageId":"m1","payloadVersion":"3""#

@Suite("Directives") struct DirectiveTests {
    @Test("A directive tells what it is, for which endpoint and for whom")
    func members() throws {
        let directive = try decodedDirective(
            text(
                header: #"""
                    "namespace":"Alexa.ModeController","name":"SetMode","messageId":"M","correlationToken":"C",
                    "payloadVersion":"3","instance":"Wash.Cycle","new":1
                    """#, payload: #"{"mode":"x","deep":{"a":[1]}}"#))
        #expect(directive.proof == .invocation)
        #expect(directive.header.namespace == "Alexa.ModeController")
        #expect(directive.header.name == "SetMode")
        #expect(directive.header.messageID == "M")
        #expect(directive.header.correlationToken == "C")
        #expect(directive.header.instance == "Wash.Cycle")
        #expect(directive.header.element.member("new")?.integer == 1)
        #expect(directive.endpoint?.endpointID == "E")
        #expect(directive.endpoint?.cookie?.members?.isEmpty == true)
        #expect(directive.payload.value == ["mode": "x", "deep": ["a": [1]]])
        #expect(directive.token == Secret("T"))
        #expect(
            directive.echo
                == DirectiveEcho(namespace: "Alexa.ModeController", correlationToken: "C", endpointID: "E"))
    }

    static let scopes: [(String, Directive.Scope?, Secret?)] = [
        (#","scope":{"type":"BearerToken","token":"T"}"#, .bearerToken(Secret("T")), Secret("T")),
        (
            #","scope":{"type":"BearerTokenWithPartition","token":"T","partition":"Room 1","userId":"U"}"#,
            .bearerTokenWithPartition(Secret("T"), partition: "Room 1", userID: "U"), Secret("T")
        ),
        (#","scope":{"type":"DirectedUserId","directedUserId":"D","token":"T"}"#, .other(type: "DirectedUserId"), nil),
        (#","scope":{"type":"BearerToken","token":""}"#, .bearerToken(nil), nil),
        (#","scope":{"type":"BearerToken"}"#, .bearerToken(nil), nil), (#","scope":{}"#, .other(type: nil), nil),
        (#","scope":null"#, nil, nil), ("", nil, nil),
    ]

    @Test("The scope of the endpoint holds our token", arguments: scopes)
    func scope(member: String, scope: Directive.Scope?, token: Secret?) throws {
        let directive = try decodedDirective(text(endpoint: #"{"endpointId":"E"\#(member)}"#))
        #expect(directive.scope == scope)
        #expect(directive.token == token)
    }

    @Test("Discover has its token in the payload, AcceptGrant in the grantee")
    func tokenPaths() throws {
        let discover = try decodedDirective(
            text(
                header: #""namespace":"Alexa.Discovery","name":"Discover","messageId":"M","payloadVersion":"3""#,
                endpoint: nil, payload: #"{"scope":{"type":"BearerToken","token":"D"}}"#))
        #expect(discover.token == Secret("D"))
        #expect(discover.endpoint == nil)
        #expect(Discover(discover)?.token == Secret("D"))
        #expect(try AcceptGrant(discover) == nil)

        let payload =
            #"{"grant":{"type":"OAuth2.AuthorizationCode","code":"c"},"grantee":{"type":"BearerToken","token":"G"},"scope":{"type":"BearerToken","token":"X"}}"#
        let grant = try decodedDirective(text(header: grantHeader, endpoint: nil, payload: payload))
        #expect(grant.token == Secret("G"))
        #expect(try AcceptGrant(grant)?.code == Secret("c"))
        #expect(try AcceptGrant(grant)?.granteeToken == Secret("G"))
        #expect(Discover(grant) == nil)

        // Elsewhere a scope in the payload is an argument like any other.
        let other = try decodedDirective(
            text(endpoint: #"{"endpointId":"E"}"#, payload: #"{"scope":{"type":"BearerToken","token":"X"}}"#))
        #expect(other.token == nil)
    }

    static let versions = [#""3""#, "3", #""2""#, #""3.0""#, #"" 3""#, "null", nil]

    @Test("payloadVersion is the text 3 and nothing else", arguments: versions)
    func payloadVersion(version: String?) throws {
        let member = version.map { #","payloadVersion":\#($0)"# } ?? ""
        let rejection = try refusal(
            text(header: #""namespace":"Alexa","name":"ReportState","messageId":"M","correlationToken":"C"\#(member)"#))
        #expect(rejection?.reason == (version == #""3""# ? nil : .payloadVersion))
        #expect(rejection == nil || rejection?.echo.correlationToken == "C")
    }

    static let repeated: [(String, String)] = [
        (#"{"directive":{"header":{}},"directive":{"header":{}}}"#, ""),
        (#"{"directive":{"header":{},"header":{},"payload":{}}}"#, "directive"),
        (
            text(header: #""namespace":"Alexa","namespace":"Alexa","name":"N","messageId":"M","payloadVersion":"3""#),
            "directive.header"
        ),
        (text(endpoint: #"{"endpointId":"E","endpointId":"F"}"#), "directive.endpoint"),
        (text(endpoint: #"{"endpointId":"E","\u0065ndpointId":"F"}"#), "directive.endpoint"),
        (
            text(endpoint: #"{"endpointId":"E","scope":{"type":"BearerToken","token":"A","token":"B"}}"#),
            "directive.endpoint.scope"
        ),
        (
            text(
                header: #""namespace":"Alexa.Discovery","name":"Discover","messageId":"M","payloadVersion":"3""#,
                endpoint: nil, payload: #"{"scope":{"type":"BearerToken","token":"A","token":"B"}}"#),
            "directive.payload.scope"
        ),
        (
            text(
                header: grantHeader, endpoint: nil,
                payload: #"{"grant":{},"grantee":{"token":"A","type":"BearerToken","token":"B"}}"#),
            "directive.payload.grantee"
        ),
    ]

    @Test("A member that comes twice where it matters is refused", arguments: repeated)
    func repeatedMember(text: String, path: String) throws {
        #expect(try refusal(text)?.reason == .repeatedMember(path: path))
        #expect(try refusal(text)?.reasonCode == "directive.repeatedMember")
    }

    static let faults: [(String, DirectiveRejection.Reason)] = [
        ("{}", .notADirective), ("[]", .notADirective), (#"{"directive":null}"#, .notADirective),
        (#"{"request":{"type":"LaunchRequest"}}"#, .notADirective),
        (#"{"directive":{}}"#, .malformed(path: "directive.header")),
        (#"{"directive":{"header":[]}}"#, .malformed(path: "directive.header")),
        (
            text(header: #""name":"N","messageId":"M","payloadVersion":"3""#),
            .malformed(path: "directive.header.namespace")
        ),
        (
            text(header: #""namespace":"","name":"N","messageId":"M","payloadVersion":"3""#),
            .malformed(path: "directive.header.namespace")
        ),
        (
            text(header: #""namespace":"A","name":7,"messageId":"M","payloadVersion":"3""#),
            .malformed(path: "directive.header.name")
        ),
        (
            text(header: #""namespace":"A","name":"N","payloadVersion":"3""#),
            .malformed(path: "directive.header.messageId")
        ),
        (
            text(header: #""namespace":"A","name":"N","messageId":"M","payloadVersion":"3","correlationToken":7"#),
            .malformed(path: "directive.header.correlationToken")
        ),
        (
            text(header: #""namespace":"A","name":"N","messageId":"M","payloadVersion":"3","instance":{}"#),
            .malformed(path: "directive.header.instance")
        ),
        (text(endpoint: "[]"), .malformed(path: "directive.endpoint")),
        (text(endpoint: "{}"), .malformed(path: "directive.endpoint.endpointId")),
        (text(endpoint: #"{"endpointId":5}"#), .malformed(path: "directive.endpoint.endpointId")),
        (text(endpoint: #"{"endpointId":"E","scope":"T"}"#), .malformed(path: "directive.endpoint.scope")),
        (text(payload: nil), .malformed(path: "directive.payload")),
        (text(payload: "null"), .malformed(path: "directive.payload")),
        (text(payload: "[]"), .malformed(path: "directive.payload")),
    ]

    @Test("What is missing or of the wrong kind is named", arguments: faults)
    func malformed(text: String, reason: DirectiveRejection.Reason) throws {
        #expect(try refusal(text)?.reason == reason)
    }

    static let grants = [
        (#"{"grantee":{}}"#, "directive.payload.grant"), (#"{"grant":[]}"#, "directive.payload.grant"),
        (#"{"grant":{"type":"OAuth2.Token","code":"c"}}"#, "directive.payload.grant.type"),
        (#"{"grant":{"code":"c"}}"#, "directive.payload.grant.type"),
        (#"{"grant":{"type":"OAuth2.AuthorizationCode"}}"#, "directive.payload.grant.code"),
        (#"{"grant":{"type":"OAuth2.AuthorizationCode","code":""}}"#, "directive.payload.grant.code"),
        (#"{"grant":{"type":"OAuth2.AuthorizationCode","code":null}}"#, "directive.payload.grant.code"),
    ]

    @Test("A grant without type or code is refused", arguments: grants)
    func badGrant(payload: String, path: String) throws {
        let directive = try decodedDirective(text(header: grantHeader, endpoint: nil, payload: payload))
        let rejection = #expect(throws: DirectiveRejection.self) { try AcceptGrant(directive) }
        #expect(rejection?.reason == .malformed(path: path))
        let event = try JSONValue(
            parsing: Event.errorResponse(to: try #require(rejection), messageID: "N").encoded())
        #expect(event["event"]?["header"]?["namespace"] == "Alexa.Authorization")
        #expect(event["event"]?["payload"]?["type"] == "ACCEPT_GRANT_FAILED")
    }

    @Test("A code that comes twice is refused")
    func repeatedCode() throws {
        let payload = #"{"grant":{"type":"OAuth2.AuthorizationCode","code":"a","code":"b"}}"#
        let directive = try decodedDirective(text(header: grantHeader, endpoint: nil, payload: payload))
        let rejection = #expect(throws: DirectiveRejection.self) { try AcceptGrant(directive) }
        #expect(rejection?.reason == .repeatedMember(path: "directive.payload.grant"))
    }

    @Test("DEC-7, DEC-8: half a surrogate pair and broken UTF-8 are refused before anything is looked up")
    func brokenText() throws {
        for id in [#"\udff3"#, #"\ud83d"#, #"\ud83dx"#] {
            #expect(throws: RequestRejection.self) { try decodedDirective(text(endpoint: #"{"endpointId":"\#(id)"}"#)) }
        }
        var bytes = Array(text().utf8)
        let place = try #require(bytes.firstRange(of: Array(#""E""#.utf8)))
        bytes.replaceSubrange(place, with: [0x22, 0x61, 0xC3, 0x28, 0x62, 0x22])
        #expect(throws: RequestRejection.self) { try VerifiedRequest.invoked(with: bytes) }
    }

    @Test("AG-5: neither code nor token shows in what a grant or a directive prints")
    func secrets() throws {
        let payload =
            #"{"grant":{"type":"OAuth2.AuthorizationCode","code":"kode"},"grantee":{"type":"BearerToken","token":"toke"}}"#
        let directive = try decodedDirective(text(header: grantHeader, endpoint: nil, payload: payload))
        let grant = try #require(try AcceptGrant(directive))
        var dumped = "\(grant) \(String(reflecting: grant)) \(String(reflecting: directive.scope))"
        dump(grant, to: &dumped)
        #expect(!dumped.contains("kode"))
        #expect(!dumped.contains("toke"))
    }

    @Test("Every sample directive of Amazon's decodes", .needsFixture("alexa-smart-home/sample_messages"))
    func samples() throws {
        var count = 0
        for file in Fixtures.files(in: "alexa-smart-home/sample_messages") {
            let verified = try VerifiedRequest.invoked(with: Fixtures.bytes(file))
            guard verified.document.root.member("directive") != nil else { continue }
            count += 1
            let directive = try Directive(decoding: verified)
            #expect(directive.token?.exposed.hasPrefix("access-token") == true, "\(file)")
        }
        #expect(count >= 18)
    }

    @Test("Every directive of another implementation's tests decodes", .needsFixture("home-assistant-pairs/pairs.json"))
    func pairs() throws {
        let pairs = try JSONValue(parsing: Fixtures.bytes("home-assistant-pairs/pairs.json"))
        let all = try #require(pairs.array ?? pairs["pairs"]?.array)
        #expect(all.count > 20)
        for pair in all {
            let message = try #require(pair["directive"])
            let whole: JSONValue = message["directive"] == nil ? ["directive": message] : message
            #expect(throws: Never.self) {
                try Directive(decoding: VerifiedRequest.invoked(with: whole.encoded()))
            }
        }
    }
}

@Suite("Smart-home answers") struct EventTests {
    private func written(_ event: Event) -> String { String(decoding: event.encoded(), as: UTF8.self) }

    @Test("AcceptGrant.Response has an empty payload and no endpoint")
    func acceptGrant() {
        #expect(
            written(.acceptGrantResponse(messageID: "N"))
                == #"{"event":{"header":{"namespace":"Alexa.Authorization","name":"AcceptGrant.Response","messageId":"N","payloadVersion":"3"},"payload":{}}}"#
        )
    }

    @Test("Discover.Response lists endpoints, or none")
    func discover() {
        #expect(
            written(.discoverResponse(endpoints: [], messageID: "N"))
                == #"{"event":{"header":{"namespace":"Alexa.Discovery","name":"Discover.Response","messageId":"N","payloadVersion":"3"},"payload":{"endpoints":[]}}}"#
        )
        #expect(
            written(.discoverResponse(endpoints: [["endpointId": "E"]])).contains(#""endpoints":[{"endpointId":"E"}]"#))
    }

    @Test("ErrorResponse repeats correlation token and endpoint where the directive had them")
    func errors() {
        let echo = DirectiveEcho(namespace: "Alexa.PowerController", correlationToken: "C", endpointID: "E")
        #expect(
            written(.errorResponse(to: echo, .endpointUnreachable, message: "m", messageID: "N"))
                == #"{"event":{"header":{"namespace":"Alexa","name":"ErrorResponse","messageId":"N","correlationToken":"C","payloadVersion":"3"},"endpoint":{"endpointId":"E"},"payload":{"type":"ENDPOINT_UNREACHABLE","message":"m"}}}"#
        )
        #expect(
            written(.errorResponse(to: DirectiveEcho(), .acceptGrantFailed, message: "m", messageID: "N"))
                == #"{"event":{"header":{"namespace":"Alexa.Authorization","name":"ErrorResponse","messageId":"N","payloadVersion":"3"},"payload":{"type":"ACCEPT_GRANT_FAILED","message":"m"}}}"#
        )
        let range: JSONObject = ["validRange": ["minimumValue": 0, "maximumValue": 100]]
        #expect(
            written(.errorResponse(to: echo, .valueOutOfRange, message: "m", details: range, messageID: "N"))
                .hasSuffix(
                    #""payload":{"type":"VALUE_OUT_OF_RANGE","message":"m","validRange":{"minimumValue":0,"maximumValue":100}}}}"#
                ))
    }

    @Test("A type leaves only with the member that the schema demands; details never replace type or message")
    func requiredMembers() {
        let echo = DirectiveEcho()
        let demanded: [(SmartHomeErrorType, String, JSONValue)] = [
            (.notSupportedInCurrentMode, "currentDeviceMode", "COLOR"),
            (.requestedSetpointsTooClose, "minimumTemperatureDelta", ["value": 1, "scale": "CELSIUS"]),
            (.cookDurationTooLong, "maxCookTime", "PT1H"),
        ]
        for (type, member, value) in demanded {
            for details in [[:], [member: true], [member: .null]] as [JSONObject] {
                let bare = Event.errorResponse(to: echo, type, message: "m", details: details)
                #expect(bare.payload == ["type": "INTERNAL_ERROR", "message": "m"])
                #expect(bare.namespace == "Alexa")
            }
            let whole = Event.errorResponse(to: echo, type, message: "m", details: [member: value, "other": 1])
            #expect(whole.payload.names == ["type", "message", member])
            #expect(whole.payload["type"]?.string == type.rawValue)
            #expect(whole.namespace == type.namespace)
        }
        let demanding = Set(demanded.map(\.0))
        for type in SmartHomeErrorType.allCases where !demanding.contains(type) {
            #expect(Event.errorResponse(to: echo, type, message: "m").payload["type"]?.string == type.rawValue)
        }
        let cheat = Event.errorResponse(to: echo, .invalidValue, message: "m", details: ["type": "X", "message": "Y"])
        #expect(cheat.payload == ["type": "INVALID_VALUE", "message": "m"])
    }

    @Test("A directive that cannot be read is answered by INVALID_DIRECTIVE")
    func invalidDirective() throws {
        let found = try #require(try refusal(text(endpoint: "{}")))
        let event = Event.errorResponse(to: found)
        #expect(event.namespace == "Alexa")
        #expect(event.correlationToken == "C")
        #expect(event.payload["type"] == "INVALID_DIRECTIVE")
        #expect(event.payload["message"] == "directive.malformed: directive.endpoint.endpointId")
    }

    @Test("Each message has an id of its own, in the form that Alexa takes")
    func messageIDs() {
        let ids = Set((0..<100).map { _ in Event.acceptGrantResponse().messageID })
        #expect(ids.count == 100)
        #expect(ids.allSatisfy { $0.utf8.count == 36 && $0.allSatisfy { $0.isHexDigit || $0 == "-" } })
    }
}
