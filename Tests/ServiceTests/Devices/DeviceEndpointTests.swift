import Alexa
import JSON
import Service
import Testing

@Suite("Endpoints of discovery") struct DeviceEndpointTests {
    private func endpoint(_ json5: String) throws -> DeviceEndpoint {
        try DeviceEndpoint(device: JSONValue(json5: Array(json5.utf8)))
    }

    private func fault(_ json5: String) -> DeviceFault? {
        do throws(DeviceFault) {
            guard let value = try? JSONValue(json5: Array(json5.utf8)) else { return nil }
            _ = try DeviceEndpoint(device: value)
            return nil
        } catch { return error }
    }

    @Test("a device of the resource server becomes Alexa's endpoint")
    func whole() throws {
        let endpoint = try endpoint(
            #"""
            { id: "lamp 1", name: "Lamp", description: "A lamp", manufacturer: "Lichtwerk", model: "L-1",
              categories: ["LIGHT"], cookie: { room: "hall" }, connections: [{ type: "TCP_IP" }], extra: 1,
              additionalAttributes: { serialNumber: "7", model: "L-1b" },
              capabilities: [
                { interface: "BrightnessController", properties: ["brightness"], retrievable: true, proactivelyReported: true },
                { interface: "RangeController", instance: "R", properties: ["rangeValue"], retrievable: true,
                  proactivelyReported: false, nonControllable: true, configuration: { supportedRange: { minimumValue: 0,
                  maximumValue: 9, precision: 1 } }, capabilityResources: { friendlyNames: [
                  { "@type": "text", value: { text: "Speed", locale: "en-US" } }] } },
                { interface: "SceneController", supportsDeactivation: true },
                { interface: "DoorbellEventSource", version: "3", proactivelyReported: true },
                { interface: "StepSpeaker", properties: [] },
              ] }
            """#)
        #expect(endpoint.deviceID == "lamp 1")
        #expect(endpoint.keptDigest == nil)
        #expect(endpoint.friendlyName == "Lamp")
        #expect(endpoint.reportedProperties == [.init(interface: "BrightnessController", name: "brightness")])
        #expect(
            .object(endpoint.object) == [
                "endpointId": "=b:bGFtcCAx", "friendlyName": "Lamp", "manufacturerName": "Lichtwerk",
                "description": "A lamp", "displayCategories": ["LIGHT"],
                "additionalAttributes": ["serialNumber": "7", "manufacturer": "Lichtwerk", "model": "L-1b"],
                "cookie": ["room": "hall"], "connections": [["type": "TCP_IP"]],
                "capabilities": [
                    [
                        "type": "AlexaInterface", "interface": "Alexa.BrightnessController", "version": "3",
                        "properties": [
                            "supported": [["name": "brightness"]], "proactivelyReported": true, "retrievable": true,
                        ],
                    ],
                    [
                        "type": "AlexaInterface", "interface": "Alexa.RangeController", "version": "3", "instance": "R",
                        "properties": [
                            "supported": [["name": "rangeValue"]], "proactivelyReported": false, "retrievable": true,
                            "nonControllable": true,
                        ],
                        "configuration": ["supportedRange": ["minimumValue": 0, "maximumValue": 9, "precision": 1]],
                        "capabilityResources": [
                            "friendlyNames": [["@type": "text", "value": ["text": "Speed", "locale": "en-US"]]]
                        ],
                    ],
                    [
                        "type": "AlexaInterface", "interface": "Alexa.SceneController", "version": "3",
                        "supportsDeactivation": true,
                    ],
                    [
                        "type": "AlexaInterface", "interface": "Alexa.DoorbellEventSource", "version": "3",
                        "proactivelyReported": true,
                    ],
                    ["type": "AlexaInterface", "interface": "Alexa.StepSpeaker", "version": "3"],
                    ["type": "AlexaInterface", "interface": "Alexa", "version": "3"],
                ],
            ])
    }

    @Test("the Alexa capability is added where it is missing, and only there")
    func alexaItself() throws {
        for (given, count) in [("", 1), ("{interface:'Alexa'}", 1), ("{interface:'Alexa',version:'3'}", 1)] {
            let capabilities = try endpoint("{id:'1',capabilities:[\(given)]}").object["capabilities"]?.array
            #expect(capabilities?.count == count)
            #expect(capabilities?.last?["interface"] == "Alexa")
        }
    }

    @Test(
        "SHR-1: texts have 1 to 128 characters: filled in when blank, cut between characters when long",
        arguments: [
            ("null", nil), ("''", nil), ("'   '", nil), ("'\\n\\t '", nil), ("' x '", "x"),
            ("'" + String(repeating: "a", count: 300) + "'", String(repeating: "a", count: 128)),
            (
                "'" + String(repeating: "a", count: 127) + "\u{FC}" + String(repeating: "b", count: 172) + "'",
                String(repeating: "a", count: 127) + "\u{FC}"
            ),
            (
                "'" + String(repeating: "a", count: 127) + "u\u{308}" + String(repeating: "b", count: 171) + "'",
                String(repeating: "a", count: 127)
            ),
            (
                "'" + String(repeating: "a", count: 127) + "👩‍👩‍👧" + String(repeating: "b", count: 9) + "'",
                String(repeating: "a", count: 127)
            ),
            ("'" + String(repeating: "a", count: 127) + " b'", String(repeating: "a", count: 127)),
        ] as [(String, String?)])
    func texts(given: String, outcome: String?) throws {
        let device = "{id:'1',capabilities:[],name:\(given),description:\(given),manufacturer:\(given)}"
        let object = try endpoint(device).object
        for (member, fallback) in [
            ("friendlyName", "Device"), ("description", "Device"), ("manufacturerName", "Unknown maker"),
        ] {
            #expect(object[member] == .string(outcome ?? fallback))
        }
    }

    @Test("a heap of accents on one letter is cut as well")
    func accents() throws {
        let name = try endpoint("{id:'1',capabilities:[],name:'a\(String(repeating: "\u{301}", count: 500))'}")
            .friendlyName
        #expect(!name.isEmpty && name.unicodeScalars.count <= 128)
    }

    @Test("members that a device lacks are missing in the endpoint too")
    func lean() throws {
        for rest in ["", ",cookie:null,connections:null,additionalAttributes:null,model:null"] {
            let names = try endpoint("{id:'1',capabilities:[]\(rest)}").object.names
            #expect(
                names == [
                    "endpointId", "friendlyName", "manufacturerName", "description", "displayCategories",
                    "capabilities",
                ])
        }
    }

    @Test("a description that is missing is the name, and a name that is missing the model")
    func fallbacks() throws {
        let object = try endpoint("{id:'1',model:'M-1',capabilities:[]}").object
        #expect(object["friendlyName"] == "M-1" && object["description"] == "M-1")
    }

    @Test("SHR-6: the endpoint id depends on the device's id alone")
    func stable() throws {
        let devices = [
            "{id:'küche/1',name:'A',capabilities:[]}",
            "{capabilities:[{interface:'PowerController'}],name:'B',model:'2.0',id:'küche/1',cookie:{host:'10.0.0.1:80'}}",
        ]
        #expect(Set(try devices.map { try endpoint($0).endpointID }).count == 1)
    }

    @Test("categories are OTHER where none are given")
    func categories() throws {
        for given in ["", "categories:null,", "categories:[],"] {
            #expect(try endpoint("{\(given)id:'1',capabilities:[]}").object["displayCategories"] == ["OTHER"])
        }
    }

    @Test(
        "a device that makes no endpoint is a fault with its place",
        arguments: [
            ("[]", ""), ("{capabilities:[]}", "id"), ("{id:7,capabilities:[]}", "id"),
            ("{id:'',capabilities:[]}", "id"),
            ("{id:'1'}", "capabilities"), ("{id:'1',capabilities:{}}", "capabilities"),
            ("{id:'1',capabilities:['x']}", "capabilities[0]"),
            ("{id:'1',capabilities:[{}]}", "capabilities[0].interface"),
            ("{id:'1',capabilities:[{interface:'Alexa.Speaker'}]}", "capabilities[0].interface"),
            ("{id:'1',capabilities:[{interface:'Speaker',properties:'volume'}]}", "capabilities[0].properties"),
            ("{id:'1',capabilities:[{interface:'Speaker',properties:['a',7]}]}", "capabilities[0].properties[1]"),
            (
                "{id:'1',capabilities:[{interface:'Speaker',properties:['a'],retrievable:1}]}",
                "capabilities[0].retrievable"
            ),
            ("{id:'1',capabilities:[{interface:'ModeController',instance:1}]}", "capabilities[0].instance"),
            ("{id:'1',name:7,capabilities:[]}", "name"), ("{id:'1',model:[],capabilities:[]}", "model"),
            ("{id:'1',categories:'LIGHT',capabilities:[]}", "categories"),
            ("{id:'1',categories:[1],capabilities:[]}", "categories"),
            ("{id:'1',additionalAttributes:'x',capabilities:[]}", "additionalAttributes"),
        ])
    func faults(device: String, path: String) { #expect(fault(device)?.path == path) }

    @Test(
        "what breaks a rule of discovery is a fault with its place",
        arguments: [
            ("capabilities:[{interface:'Speaker'},{interface:'Speaker'}]", "capabilities"),
            (
                "capabilities:[{interface:'Speaker',properties:['brightness']}]",
                "capabilities[0].properties.supported[0].name"
            ),
            ("capabilities:[{interface:'Speaker',type:'Speaker'}]", "capabilities[0].type"),
            ("capabilities:[{interface:'Speaker',version:3}]", "capabilities[0].version"),
            ("capabilities:[{interface:'ToggleController'}]", "capabilities[0].instance"),
            ("capabilities:[{interface:'RangeController',instance:'I'}]", "capabilities[0].capabilityResources"),
            (
                "capabilities:[{interface:'SceneController',supportsDeactivation:'no'}]",
                "capabilities[0].supportsDeactivation"
            ),
            ("capabilities:[],cookie:'x'", "cookie"),
            ("capabilities:[],cookie:{a:'\(String(repeating: "x", count: 5000))'}", "cookie"),
            ("capabilities:[],connections:[{type:'PIGEON'}]", "connections[0].type"),
            ("capabilities:[],additionalAttributes:{serialNumber:7}", "additionalAttributes.serialNumber"),
            ("capabilities:[],categories:['']", "categories"),
        ])
    func violations(members: String, path: String) { #expect(fault("{id:'1',\(members)}")?.path == path) }
}
