import Alexa
import Concurrency
import HTTP
import JSON
import Service
import Telemetry
import TestSupport
import Testing
import Time

/// Devices as a provider describes them.
enum Provided {
    static func device(_ id: String, name: String = "Lamp", _ members: JSONObject = [:]) -> JSONValue {
        var device: JSONObject = [
            "id": .string(id), "name": .string(name), "categories": ["LIGHT"],
            "capabilities": [
                [
                    "interface": "PowerController", "properties": ["powerState"], "retrievable": true,
                    "proactivelyReported": true,
                ]
            ],
        ]
        for (name, value) in members { device[name] = value }
        return .object(device)
    }

    static func page(_ devices: [JSONValue], cursor: String? = nil) -> HTTPResponse {
        var page: JSONObject = ["devices": .array(devices)]
        page["cursor"] = cursor.map(JSONValue.string)
        return .json(String(decoding: JSONValue.object(page).encoded(), as: UTF8.self))
    }

    /// Answers each cursor by its page; "" is the first page.
    static func pages(_ pages: [String: HTTPResponse]) -> RecordingHTTPClient.Answer {
        { request, _ in
            let cursor = request.url.split(separator: "=", maxSplits: 1).dropFirst().first.map(String.init) ?? ""
            return pages[cursor] ?? .json("{}", status: 404)
        }
    }
}

extension SmartHomeHarness {
    /// The endpoints of a discovery that succeeds.
    func discovered() async throws -> [JSONValue] {
        let event = try await event(Self.discover(token: try token()))
        #expect(event.eventName == "Alexa.Discovery/Discover.Response")
        #expect(try SmartHomeSchema.fault(of: event) == nil)
        return try #require(event["event"]?["payload"]?["endpoints"]?.array)
    }

    func logLines(_ text: String) -> [Substring] { logText.split(separator: "\n").filter { $0.contains(text) } }
}

@Suite("Smart home: discovery", .timeLimit(.minutes(5))) struct DiscoveryTests {
    static func harness(_ devices: [JSONValue], limit: Int = 300) throws -> SmartHomeHarness {
        try SmartHomeHarness(
            servers: .init(devices: Provided.pages(["": Provided.page(devices)])), endpointLimit: limit)
    }

    static func ids(_ endpoints: [JSONValue]) -> [String?] { endpoints.map { $0["endpointId"]?.string } }

    @Test("SHR-3: the devices of the provider become endpoints, with exactly Alexa's keys")
    func endpoints() async throws {
        let harness = try Self.harness([
            Provided.device(
                "lamp-1", name: "Desk lamp",
                ["description": "On the desk", "manufacturer": "Maker", "model": "L1", "cookie": ["k": "v"]])
        ])
        let endpoints = try await harness.discovered()
        #expect(
            endpoints == [
                [
                    "endpointId": "lamp-1", "friendlyName": "Desk lamp", "manufacturerName": "Maker",
                    "description": "On the desk", "displayCategories": ["LIGHT"],
                    "capabilities": [
                        [
                            "type": "AlexaInterface", "interface": "Alexa.PowerController", "version": "3",
                            "properties": [
                                "supported": [["name": "powerState"]], "retrievable": true,
                                "proactivelyReported": true,
                            ],
                        ], ["type": "AlexaInterface", "interface": "Alexa", "version": "3"],
                    ],
                    "additionalAttributes": ["manufacturer": "Maker", "model": "L1"], "cookie": ["k": "v"],
                ]
            ])
        #expect(harness.deviceCalls.map(\.url) == [SmartHomeHarness.resourcesURL + "/devices"])
        let report = try #require(harness.reports.discovered.first)
        #expect(report.subject == "u1")
        #expect(report.devices.map(\.deviceID) == ["lamp-1"])
        #expect(
            report.devices.first?.reportedProperties == [.init(interface: "PowerController", name: "powerState")])
    }

    @Test("SHR-1: a text that is null, blank or too long never costs the device its place")
    func descriptions() async throws {
        let long = String(repeating: "x", count: 127) + "ü" + String(repeating: "y", count: 172)
        for text in [JSONValue.null, "", "   ", .string(long)] {
            let harness = try Self.harness([
                Provided.device("1", ["description": text, "manufacturer": text, "name": text])
            ])
            let endpoint = try #require(try await harness.discovered().first)
            for member in ["description", "manufacturerName", "friendlyName"] {
                let count = endpoint[member]?.string?.unicodeScalars.count ?? 0
                #expect((1...128).contains(count), "\(member)")
            }
            if text.string == long {
                #expect(endpoint["description"]?.string == String(repeating: "x", count: 127) + "ü")
            }
        }
    }

    @Test("SHR-5: of two devices with one id the first is sent, with one log line; equal names are no matter")
    func sameID() async throws {
        let harness = try Self.harness([
            Provided.device("1", name: "Motion"), Provided.device("1", name: "Motion 2"),
            Provided.device("2", name: "Motion"),
        ])
        let endpoints = try await harness.discovered()
        #expect(Self.ids(endpoints) == ["1", "2"])
        #expect(endpoints.map { $0["friendlyName"] } == ["Motion", "Motion"])
        let lines = harness.logLines("device left out")
        #expect(lines.count == 1)
        #expect(lines.first?.contains("Motion, Motion 2") == true)
    }

    @Test("SHR-6: a device has the same endpoint id wherever, in whatever order and by whatever name it is listed")
    func stableIDs() async throws {
        let ids = ["küche/1", "lamp-1", String(repeating: "x", count: 300)]
        let first = try Self.harness(ids.map { Provided.device($0) })
        let second = try Self.harness(
            ids.reversed().map { Provided.device($0, name: "Other", ["model": "2", "manufacturer": "Other"]) })
        let (one, two) = (Self.ids(try await first.discovered()), Self.ids(try await second.discovered()))
        #expect(one.count == 3)
        #expect(one == two.reversed())
    }

    static let broken: [JSONValue] = [
        "7", 7, nil, [], ["name": "no id"], ["id": 7, "name": "x", "capabilities": []],
        Provided.device("", name: "empty id"), Provided.device("b1", ["capabilities": "none"]),
        Provided.device("b2", ["capabilities": [["interface": "Alexa.PowerController"]]]),
        Provided.device("b3", ["capabilities": [7]]), Provided.device("b4", ["categories": [7]]),
        Provided.device("b5", ["name": 7]), Provided.device("b6", ["cookie": ["k": 7]]),
        Provided.device("b7", ["cookie": ["k": .string(String(repeating: "x", count: 5001))]]),
        Provided.device("b8", ["capabilities": [["interface": "RangeController", "properties": ["rangeValue"]]]]),
        Provided.device(
            "b9",
            [
                "capabilities": [
                    ["interface": "PowerController", "properties": ["powerState"]],
                    ["interface": "PowerController", "properties": ["powerState"]],
                ]
            ]),
    ]

    @Test("a broken device is left out with a log line, and the good ones beside it are sent", arguments: broken)
    func besideBroken(device: JSONValue) async throws {
        let harness = try Self.harness([Provided.device("good-1"), device, Provided.device("good-2")])
        #expect(Self.ids(try await harness.discovered()) == ["good-1", "good-2"])
        #expect(harness.logLines("device left out").count == 1)
    }

    @Test("a thousand broken devices cost twenty log lines and one with the rest as a number")
    func manyBroken() async throws {
        let harness = try Self.harness(Array(repeating: 7, count: 1000) + [Provided.device("good")])
        #expect(Self.ids(try await harness.discovered()) == ["good"])
        let lines = harness.logLines("device left out")
        #expect(lines.count == 21)
        #expect(lines.last?.contains("980") == true)
    }

    @Test("no devices are an empty list")
    func none() async throws {
        #expect(try await Self.harness([]).discovered().isEmpty)
    }

    @Test("300 devices are all sent; of 301 the first 300, and the log says so", arguments: [300, 301])
    func limit(count: Int) async throws {
        let harness = try Self.harness((1...count).map { Provided.device("d\($0)") })
        let endpoints = try await harness.discovered()
        #expect(Self.ids(endpoints) == (1...300).map { "d\($0)" })
        #expect(harness.logLines("discovery limit").count == count - 300)
        #expect(harness.reports.discovered.first?.devices.count == 300)
    }

    @Test("duplicates and broken devices do not count towards the limit")
    func limitOfGood() async throws {
        let harness = try Self.harness(
            [Provided.device("1"), Provided.device("1"), 7, Provided.device("2"), Provided.device("3")], limit: 2)
        #expect(Self.ids(try await harness.discovered()) == ["1", "2"])
    }

    @Test("what would make the answer longer than Alexa takes is left out, the rest is sent")
    func oversize() async throws {
        let cookie: JSONObject = ["cookie": ["k": .string(String(repeating: "x", count: 4000))]]
        let harness = try SmartHomeHarness(
            servers: .init(
                devices: Provided.pages(["": Provided.page((1...10).map { Provided.device("d\($0)", cookie) })])),
            responseLimitBytes: 20_000)
        let response = await harness.endpoint.respond(
            to: harness.request(SmartHomeHarness.discover(token: try harness.token())))
        #expect(response.body.count <= 20_000)
        let endpoints = try JSONValue(parsing: response.body)["event"]?["payload"]?["endpoints"]?.array ?? []
        #expect(Self.ids(endpoints) == ["d1", "d2", "d3", "d4"])
        #expect(harness.logLines("device left out").count == 6)
    }

    @Test("a long id that cannot be kept is left out, since no directive would find its device")
    func unkept() async throws {
        let devices = [Provided.device(String(repeating: "x", count: 300)), Provided.device("2")]
        let harness = try SmartHomeHarness(
            endpointIDs: BrokenEndpointIDStore(),
            servers: .init(devices: Provided.pages(["": Provided.page(devices)])))
        #expect(Self.ids(try await harness.discovered()) == ["2"])
        #expect(harness.logLines("device left out").count == 1)
    }

    // MARK: - Pages

    @Test("all pages are gathered, in order")
    func twoPages() async throws {
        let harness = try SmartHomeHarness(
            servers: .init(
                devices: Provided.pages([
                    "": Provided.page([Provided.device("1"), Provided.device("2")], cursor: "p2"),
                    "p2": Provided.page([Provided.device("3"), Provided.device("1", name: "again")]),
                ])))
        #expect(Self.ids(try await harness.discovered()) == ["1", "2", "3"])
        #expect(harness.deviceCalls.count == 2)
    }

    @Test("a cursor that comes again ends the list, with what there is")
    func repeatedCursor() async throws {
        let harness = try SmartHomeHarness(
            servers: .init(
                devices: Provided.pages([
                    "": Provided.page([Provided.device("1")], cursor: "a"),
                    "a": Provided.page([Provided.device("2")], cursor: "b"),
                    "b": Provided.page([Provided.device("3")], cursor: "a"),
                ])))
        #expect(Self.ids(try await harness.discovered()) == ["1", "2", "3"])
        #expect(harness.deviceCalls.count == 3)
        #expect(harness.logLines("the pages of devices have no end").count == 1)
    }

    @Test("a list whose cursors never end does, after a hundred pages")
    func endlessCursor() async throws {
        let number = Locked(0)
        let harness = try SmartHomeHarness(
            servers: .init(devices: { _, _ in
                let page = number.withLock { number in
                    number += 1
                    return number
                }
                return Provided.page([Provided.device("d\(page)")], cursor: "c\(page)")
            }))
        #expect(try await harness.discovered().count == 100)
        #expect(harness.deviceCalls.count == DeviceClient.pageLimit)
    }

    @Test("no page is asked for once there are more devices than Alexa takes")
    func enough() async throws {
        let harness = try SmartHomeHarness(
            servers: .init(
                devices: Provided.pages([
                    "": Provided.page((1...3).map { Provided.device("d\($0)") }, cursor: "p2"),
                    "p2": Provided.page([]),
                ])), endpointLimit: 2)
        #expect(try await harness.discovered().count == 2)
        #expect(harness.deviceCalls.count == 1)
    }

    @Test("a page that fails fails the whole, so that Alexa does not take half a list for the whole")
    func secondPageFails() async throws {
        let harness = try SmartHomeHarness(
            servers: .init(
                devices: Provided.pages(["": Provided.page([Provided.device("1")], cursor: "p2")])))
        let event = try await harness.event(SmartHomeHarness.discover(token: try harness.token()))
        #expect(event.errorType == "NO_SUCH_ENDPOINT")
        #expect(harness.reports.discovered.isEmpty)
    }

    @Test("a page that the provider says to be unchanged is not sent again")
    func unchanged() async throws {
        let harness = try SmartHomeHarness(
            servers: .init(devices: { request, _ in
                guard request.fields["If-None-Match"] != #""v1""# else { return HTTPResponse(status: 304) }
                var response = Provided.page([Provided.device("1")])
                response.fields["ETag"] = #""v1""#
                return response
            }))
        let token = try harness.token()
        for _ in 0..<2 {
            let event = try await harness.event(SmartHomeHarness.discover(token: token))
            #expect(Self.ids(event["event"]?["payload"]?["endpoints"]?.array ?? []) == ["1"])
        }
        #expect(harness.deviceCalls.map { $0.fields["If-None-Match"] } == [nil, #""v1""#])
    }
}
