import JSON
import Service
import Testing

@Suite("The devices file") struct DevicesFileTests {
    private func faults(_ text: String) throws -> [String] {
        let users = try DeviceHarness.users()
        do throws(Devices.Faults) {
            _ = try Devices(json5: Array(text.utf8), users: users)
            return []
        } catch { return error.faults.map { "\($0.path): \($0.problem)" } }
    }

    /// The faults of one device, given by its members; their places are those within it.
    private func faultsOfDevice(_ members: String) throws -> [String] {
        try faults("{devices:[{id:'d',\(members)}]}").map { String($0.trimmingPrefix("devices[0].")) }
    }

    private static let speaker =
        "owners:['u1001'],capabilities:[{interface:'Speaker',properties:['volume'],retrievable:true}]"
    private static let volume = "{interface:'Speaker',name:'volume',value:5}"

    @Test("devices are read in order, with whom they belong to and what they are like")
    func read() throws {
        let devices = try Devices(json5: DeviceHarness.file("devices.json5"), users: DeviceHarness.users())
        #expect(devices.all.count >= 25)
        let lamp = try #require(devices.all.first)
        #expect(lamp.id == "lamp-living-room" && lamp.owners == ["u1001"])
        #expect(lamp.state.first?.value == "ON")
        #expect(lamp.json["owners"] == nil && lamp.json["state"] == nil && lamp.json["behaviour"] == nil)
        #expect(Set(devices.all.flatMap(\.owners)) == ["u1001", "u1002"])
    }

    @Test("every fault is listed at once, each with its place")
    func allFaults() throws {
        let text = #"""
            { extra: 1, devices: [
              { id: "a", owners: ["u1001", "u9", 7, "u1001"], capabilities: [{ interface: "Alexa.Speaker" }], colour: "red",
                behaviour: { reachable: "no", pin: 1234, mood: 1 } },
              "text",
              { id: "b", owners: [], capabilities: [{ interface: "Speaker", properties: ["volume", "muted"], retrievable: true }],
                state: [{ interface: "Speaker", name: "volume", value: 1 }, { interface: "Speaker", name: "volume", value: 2 },
                        { interface: "Speaker", name: "colour", value: 2 }, { interface: "Speaker", name: "muted" }] },
              { id: "b", capabilities: [] },
            ] }
            """#
        #expect(
            try faults(text) == [
                "extra: unknown key",
                "devices[0].colour: unknown key",
                "devices[0].owners[1]: no user has this sub",
                "devices[0].owners[2]: not a text",
                "devices[0].owners[3]: stands here twice",
                "devices[0].behaviour.reachable: neither true nor false",
                "devices[0].behaviour.pin: not four digits in quotes",
                "devices[0].behaviour.mood: unknown key",
                "devices[0].capabilities[0].interface: interfaces are written without Alexa.",
                "devices[1]: not an object",
                "devices[2].owners: empty: nobody would see the device",
                "devices[2].state[1].name: the property stands here twice",
                "devices[2].state[2].name: no capability names this property",
                "devices[2].state[3].value: missing",
                "devices[2].state: Speaker.muted is missing: the capability names it",
                "devices[3].owners: missing",
                "devices[3].id: another device has it",
            ])
    }

    @Test(
        "what is no file of devices is one fault",
        arguments: [
            ("", ""), ("[]", "not an object"), ("{}", "missing"), ("{devices:{}}", "not a list"),
            ("{devices:[", ""),
        ])
    func noFile(text: String, problem: String) throws {
        let found = try faults(text)
        #expect(found.count == 1)
        #expect(found.first?.contains(problem) == true)
    }

    @Test(
        "state fits what the capabilities say",
        arguments: [
            (speaker + ",state:[\(volume)]", []),
            (speaker, ["state: Speaker.volume is missing: the capability names it"]),
            (speaker + ",state:{}", ["state: not a list"]),
            (speaker + ",state:[{interface:'Speaker',name:'volume',value:101}]", ["state[0].value: is out of range"]),
            (
                speaker + ",state:[{interface:'Speaker',name:'volume',value:'5'}]",
                ["state[0].value: is of the wrong kind"]
            ),
            (
                "owners:['u1001'],capabilities:[{interface:'EndpointHealth',properties:['connectivity'],retrievable:true}],"
                    + "state:[{interface:'EndpointHealth',name:'connectivity',value:{value:'OK'}}]",
                ["state[0].name: follows from behaviour.reachable: leave it out"]
            ),
        ] as [(String, [String])])
    func state(members: String, expected: [String]) throws { #expect(try faultsOfDevice(members) == expected) }

    @Test(
        "ranges and modes bound the state",
        arguments: [
            ("Range", "rangeValue", "5", true), ("Range", "rangeValue", "0", true),
            ("Range", "rangeValue", "11", false),
            ("Range", "rangeValue", "-1", false), ("Range", "rangeValue", "'5'", false), ("Mode", "mode", "'a'", true),
            ("Mode", "mode", "'c'", false), ("Mode", "mode", "1", false), ("Mode", "mode", "''", false),
        ])
    func bounds(kind: String, name: String, value: String, isGood: Bool) throws {
        let text = #"{"@type":"text",value:{text:"x",locale:"en-US"}}"#
        let configuration =
            kind == "Range"
            ? "{supportedRange:{minimumValue:0,maximumValue:10,precision:1}}"
            : "{ordered:false,supportedModes:[{value:'a',modeResources:{friendlyNames:[\(text)]}},{value:'b',modeResources:{friendlyNames:[\(text)]}}]}"
        let found = try faultsOfDevice(
            """
            owners:['u1001'],capabilities:[{interface:'\(kind)Controller',instance:'I',properties:['\(name)'],
            retrievable:true,configuration:\(configuration),capabilityResources:{friendlyNames:[\(text)]}}],
            state:[{interface:'\(kind)Controller',instance:'I',name:'\(name)',value:\(value)}]
            """)
        #expect(found.isEmpty == isGood)
        if !isGood { #expect(found.allSatisfy { $0.hasPrefix("state[0].value: ") }) }
    }

    @Test(
        "setpoints lie where the thermostat can go, in its scale",
        arguments: [
            ("", "20", "CELSIUS", true), ("", "4.9", "CELSIUS", false), ("", "35.1", "CELSIUS", false),
            ("", "70", "FAHRENHEIT", true), ("", "20", "FAHRENHEIT", false), ("", "295", "KELVIN", true),
            ("setpoints:{minimum:10,maximum:30,scale:'CELSIUS'}", "10", "CELSIUS", true),
            ("setpoints:{minimum:10,maximum:30,scale:'CELSIUS'}", "9", "CELSIUS", false),
            ("setpoints:{minimum:10,maximum:30,scale:'CELSIUS'}", "31", "CELSIUS", false),
            ("setpoints:{minimum:10,maximum:30,scale:'CELSIUS'}", "20", "FAHRENHEIT", false),
        ])
    func setpoints(behaviour: String, degrees: String, scale: String, isGood: Bool) throws {
        let found = try faultsOfDevice(
            """
            owners:['u1001'],capabilities:[{interface:'ThermostatController',properties:['targetSetpoint'],
            retrievable:true,configuration:{supportsScheduling:false,supportedModes:['HEAT']}}],behaviour:{\(behaviour)},
            state:[{interface:'ThermostatController',name:'targetSetpoint',value:{value:\(degrees),scale:'\(scale)'}}]
            """)
        #expect(found == (isGood ? [] : ["state[0].value: not within behaviour.setpoints, in their scale"]))
    }

    @Test(
        "behaviour has members of their kind, each within its bounds",
        arguments: [
            ("reachable:false", nil), ("reachable:0", "reachable"), ("reachable:null", "reachable"),
            ("online:true", "online"),
            ("deferSeconds:20", nil), ("deferSeconds:0", "deferSeconds"), ("deferSeconds:3601", "deferSeconds"),
            ("deferSeconds:1.5", "deferSeconds"),
            ("lowBatteryPercent:0", nil), ("lowBatteryPercent:101", "lowBatteryPercent"),
            ("lowBatteryPercent:-1", "lowBatteryPercent"), ("lowBatteryPercent:'4'", "lowBatteryPercent"),
            ("pin:'0000'", nil), ("pin:'000'", "pin"), ("pin:'00000'", "pin"), ("pin:'12a4'", "pin"),
            ("pin:1234", "pin"),
            ("exitDelaySeconds:255", nil), ("exitDelaySeconds:256", "exitDelaySeconds"),
            ("error:{type:'ENDPOINT_BUSY'}", nil), ("error:{type:'TIRED'}", "error.type"),
            ("error:'ENDPOINT_BUSY'", "error.type"),
            ("error:{type:'NOT_SUPPORTED_IN_CURRENT_MODE',currentDeviceMode:'ASLEEP'}", nil),
            ("error:{type:'NOT_SUPPORTED_IN_CURRENT_MODE'}", "error.currentDeviceMode"),
            ("setpoints:{minimum:5,maximum:30,scale:'CELSIUS'}", nil),
            ("setpoints:{minimum:5,maximum:30}", "setpoints.scale"),
            ("setpoints:{scale:'CELSIUS',maximum:30}", "setpoints.minimum"),
            ("setpoints:{minimum:31,maximum:30,scale:'CELSIUS'}", "setpoints.maximum"),
            ("setpoints:{minimum:5,maximum:30,scale:'RANKINE'}", "setpoints.scale"),
            ("setpoints:{minimum:5,maximum:30,scale:'CELSIUS',minimumDelta:-1}", "setpoints.minimumDelta"),
            ("setpoints:{minimum:20,maximum:21,scale:'CELSIUS'}", nil),
            ("setpoints:{minimum:20,maximum:21,scale:'CELSIUS',minimumDelta:2}", "setpoints.minimumDelta"),
            ("colorTemperature:{minimum:2000,maximum:6500}", nil),
            ("colorTemperature:{minimum:900,maximum:6500}", "colorTemperature.minimum"),
            ("colorTemperature:{minimum:2000,maximum:10001}", "colorTemperature.maximum"),
            ("colorTemperature:{minimum:2000,maximum:6500,step:0}", "colorTemperature.step"),
            ("open:[{friendlyName:'Window'}]", nil), ("open:['Window']", "open"), ("open:[{}]", "open"),
            ("open:{}", "open"),
            ("channels:[{number:'1'}]", nil), ("channels:[]", "channels"), ("channels:[{name:'News'}]", "channels"),
            ("channels:[{number:1}]", "channels"),
            ("streamURI:'rtsp://a.example/1'", nil), ("streamURI:'a.example'", "streamURI"),
            ("imageURI:'https://a b'", "imageURI"),
            ("imageURI:7", "imageURI"), ("durationMilliseconds:86400000", nil),
            ("durationMilliseconds:86400001", "durationMilliseconds"),
        ])
    func behaviour(member: String, path: String?) throws {
        let found = try faultsOfDevice("owners:['u1001'],capabilities:[],behaviour:{\(member)}")
        #expect(found.count == (path == nil ? 0 : 1))
        if let path { #expect(found.first?.hasPrefix("behaviour.\(path): ") == true) }
    }

    @Test("codes in clear are for development alone")
    func plainCodes() throws {
        let bytes = Array(DeviceHarness.file(capabilities: "", behaviour: "pin:'8642'").utf8)
        let users = try DeviceHarness.users()
        _ = try Devices(json5: bytes, users: users, development: true)
        #expect {
            try Devices(json5: bytes, users: users, development: false)
        } throws: {
            ($0 as? Devices.Faults)?.faults.map(\.path) == ["devices[0].behaviour.pin"]
        }
    }

    @Test("a panel's code is not to be seen in what is read")
    func secret() throws {
        let devices = try Devices(
            json5: Array(DeviceHarness.file(capabilities: "", behaviour: "pin:'8642'").utf8),
            users: DeviceHarness.users())
        var dumped = ""
        dump(devices, to: &dumped)
        #expect(!dumped.contains("8642") && !"\(devices)".contains("8642"))
    }

    @Test("the configuration lists the faults of the file under the key that names it")
    func configuration() {
        var plan = ConfigurationDraft.production
        plan.files["/etc/skillgate/devices.json5"] = "{devices:[{id:'a',owners:['u1'],capabilities:[]}]}"
        plan["provider.embedded.devices"] = "devices.json5"
        #expect(
            plan.faults().map { "\($0.path): \($0.problem)" } == [
                "provider.embedded.devices: in the file: devices[0].owners[0]: no user has this sub"
            ])
    }
}
