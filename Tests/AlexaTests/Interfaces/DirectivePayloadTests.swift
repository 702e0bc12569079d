import Alexa
import HTTP
import JSON
import Testing

/// What each interface takes, and what it refuses before a provider hears of it.
@Suite("Payloads of directives") struct DirectivePayloadTests {
    /// The directive of that interface and name with that payload.
    static func directive(
        _ namespace: String, _ name: String, _ payload: String, instance: String? = nil,
        endpoint: String = #"{"endpointId":"e1","scope":{"type":"BearerToken","token":"t"}}"#
    ) throws -> Directive {
        let instance = instance.map { #","instance":"\#($0)""# } ?? ""
        let body = #"""
            {"directive":{"header":{"namespace":"\#(namespace)","name":"\#(name)","messageId":"m1","payloadVersion":"3",
            "correlationToken":"c+/="\#(instance)},"endpoint":\#(endpoint),"payload":\#(payload)}}
            """#
        return try Directive(decoding: VerifiedRequest.invoked(with: Array(body.utf8)))
    }

    /// What a payload is refused for; nil where it is taken.
    static func refusal(
        _ interface: String, _ name: String, _ payload: String, instance: String? = nil
    ) throws -> DirectiveRejection? {
        do {
            _ = try directive("Alexa." + interface, name, payload, instance: instance).checked()
            return nil
        } catch let rejection as DirectiveRejection { return rejection }
    }

    struct Case: Sendable, CustomStringConvertible {
        let interface: String
        let name: String
        var instance: String?
        let taken: [String]
        /// Refused payloads, each with the code of the reason.
        let refused: [(payload: String, code: String)]
        var description: String { interface + "." + name }
    }

    private static let missing = "directive.payload"
    private static let range = "directive.valueOutOfRange"
    private static let word = "directive.value"

    static let cases: [Case] = [
        Case(
            interface: "BrightnessController", name: "SetBrightness",
            taken: [#"{"brightness":0}"#, #"{"brightness":100.0}"#, #"{"brightness":50,"more":1}"#],
            refused: [
                ("{}", missing), (#"{"brightness":"50"}"#, missing), (#"{"brightness":0.5}"#, missing),
                (#"{"brightness":1e19}"#, range), (#"{"brightness":1e300}"#, range), (#"{"brightness":101}"#, range),
                (#"{"brightness":-1}"#, range), (#"{"brightness":null}"#, missing),
            ]),
        Case(
            interface: "BrightnessController", name: "AdjustBrightness", taken: [#"{"brightnessDelta":-25}"#],
            refused: [
                ("{}", missing), (#"{"brightnessDelta":"-25"}"#, missing), (#"{"brightnessDelta":[1]}"#, missing),
            ]),
        Case(
            interface: "ColorController", name: "SetColor",
            taken: [#"{"color":{"hue":350.5,"saturation":0.7138,"brightness":0.6524}}"#],
            refused: [
                (#"{"color":{"hue":350.5,"saturation":0.7}}"#, missing),
                (#"{"color":{"hue":361,"saturation":0.7,"brightness":1}}"#, range),
                (#"{"color":{"hue":1,"saturation":1.1,"brightness":1}}"#, range),
                (#"{"color":"red"}"#, missing),
            ]),
        Case(
            interface: "ColorTemperatureController", name: "SetColorTemperature",
            taken: [#"{"colorTemperatureInKelvin":1000}"#, #"{"colorTemperatureInKelvin":10000}"#],
            refused: [
                (#"{"colorTemperatureInKelvin":999}"#, range), (#"{"colorTemperatureInKelvin":10001}"#, range),
                (#"{"colorTemperature":2700}"#, missing),
            ]),
        Case(
            interface: "PercentageController", name: "SetPercentage", taken: [#"{"percentage":74}"#],
            refused: [
                (#"{"percentage":174}"#, range), (#"{"percentage":true}"#, missing), (#"{"percentage":-1}"#, range),
            ]),
        Case(
            interface: "PowerLevelController", name: "SetPowerLevel", taken: [#"{"powerLevel":5}"#],
            refused: [
                (#"{"powerLevel":500}"#, range), ("{}", missing), (#"{"powerLevel":{}}"#, missing),
            ]),
        Case(
            interface: "RangeController", name: "SetRangeValue", instance: "Fan.Speed",
            taken: [#"{"rangeValue":7.5}"#, #"{"rangeValue":-40}"#],
            refused: [("{}", missing), (#"{"rangeValue":"7"}"#, missing), (#"{"rangeValue":[7]}"#, missing)]),
        Case(
            interface: "RangeController", name: "AdjustRangeValue", instance: "Fan.Speed",
            taken: [#"{"rangeValueDelta":-1,"rangeValueDeltaDefault":true}"#, #"{"rangeValueDelta":0.5}"#],
            refused: [
                ("{}", missing), (#"{"rangeValueDelta":"1"}"#, missing),
                (#"{"rangeValueDelta":1,"rangeValueDeltaDefault":"yes"}"#, missing),
            ]),
        Case(
            interface: "ModeController", name: "SetMode", instance: "Washer.Cycle", taken: [#"{"mode":"Delicate"}"#],
            refused: [("{}", missing), (#"{"mode":""}"#, missing), (#"{"mode":3}"#, missing)]),
        Case(
            interface: "ModeController", name: "AdjustMode", instance: "Washer.Cycle", taken: [#"{"modeDelta":-1}"#],
            refused: [("{}", missing), (#"{"modeDelta":1.5}"#, missing), (#"{"modeDelta":"1"}"#, missing)]),
        Case(
            interface: "ThermostatController", name: "SetTargetTemperature",
            taken: [
                #"{"targetSetpoint":{"value":20.5,"scale":"CELSIUS"}}"#,
                #"{"lowerSetpoint":{"value":68,"scale":"FAHRENHEIT"},"upperSetpoint":{"value":78,"scale":"FAHRENHEIT"}}"#,
                #"{"targetSetpoint":{"value":293.15,"scale":"KELVIN"},"schedule":{"start":"x"}}"#,
            ],
            refused: [
                ("{}", missing), (#"{"targetSetpoint":{"value":"20","scale":"CELSIUS"}}"#, missing),
                (#"{"targetSetpoint":{"value":20,"scale":"celsius"}}"#, word), (#"{"targetSetpoint":20}"#, missing),
                (#"{"targetSetpoint":{"value":20,"scale":"CELSIUS"},"lowerSetpoint":{"value":1}}"#, missing),
            ]),
        Case(
            interface: "ThermostatController", name: "AdjustTargetTemperature",
            taken: [#"{"targetSetpointDelta":{"value":-2.0,"scale":"FAHRENHEIT"}}"#],
            refused: [
                ("{}", missing), (#"{"targetSetpointDelta":2}"#, missing),
                (#"{"targetSetpointDelta":{"value":2,"scale":"RANKINE"}}"#, word),
            ]),
        Case(
            interface: "ThermostatController", name: "SetThermostatMode",
            taken: [
                #"{"thermostatMode":{"value":"COOL"}}"#, #"{"thermostatMode":{"value":"CUSTOM","customName":"X"}}"#,
            ],
            refused: [
                (#"{"thermostatMode":"COOL"}"#, missing), (#"{"thermostatMode":{}}"#, missing),
                (#"{"thermostatMode":{"value":""}}"#, missing),
            ]),
        Case(
            interface: "Speaker", name: "SetVolume", taken: [#"{"volume":50}"#],
            refused: [(#"{"volume":101}"#, range), ("{}", missing), (#"{"volume":"loud"}"#, missing)]),
        Case(
            interface: "Speaker", name: "AdjustVolume", taken: [#"{"volume":-20,"volumeDefault":false}"#],
            refused: [
                ("{}", missing), (#"{"volume":null}"#, missing), (#"{"volume":1,"volumeDefault":1}"#, missing),
            ]),
        Case(
            interface: "Speaker", name: "SetMute", taken: [#"{"mute":true}"#],
            refused: [("{}", missing), (#"{"mute":"true"}"#, missing), (#"{"mute":1}"#, missing)]),
        Case(
            interface: "StepSpeaker", name: "AdjustVolume", taken: [#"{"volumeSteps":-20,"volumeStepsDefault":true}"#],
            refused: [("{}", missing), (#"{"volumeSteps":1.5}"#, missing), (#"{"volume":1}"#, missing)]),
        Case(
            interface: "InputController", name: "SelectInput", taken: [#"{"input":"HDMI 1"}"#],
            refused: [("{}", missing), (#"{"input":""}"#, missing), (#"{"input":1}"#, missing)]),
        Case(
            interface: "ChannelController", name: "ChangeChannel",
            taken: [
                #"{"channel":{"number":"1234"},"channelMetadata":{"name":"X"}}"#,
                #"{"channel":{},"channelMetadata":{"name":"X"}}"#,
            ],
            refused: [
                (#"{"channel":{"number":1234}}"#, missing), (#"{"channel":"1234"}"#, missing),
                (#"{"channel":{"number":"1"},"channelMetadata":[]}"#, missing),
            ]),
        Case(
            interface: "ChannelController", name: "SkipChannels", taken: [#"{"channelCount":-1}"#],
            refused: [("{}", missing), (#"{"channelCount":"1"}"#, missing), (#"{"channelCount":0.5}"#, missing)]),
        Case(
            interface: "EqualizerController", name: "SetBands", taken: [#"{"bands":[{"name":"BASS","level":-2}]}"#],
            refused: [
                (#"{"bands":[]}"#, missing), (#"{"bands":[{"name":"BASS"}]}"#, missing),
                (#"{"bands":[{"name":"TUBA","level":1}]}"#, word),
            ]),
        Case(
            interface: "EqualizerController", name: "AdjustBands",
            taken: [#"{"bands":[{"name":"BASS","levelDelta":3,"levelDirection":"UP"}]}"#],
            refused: [
                ("{}", missing), (#"{"bands":[{"name":"BASS","levelDirection":"SIDEWAYS"}]}"#, word),
                (#"{"bands":[{"name":"BASS","levelDelta":"3"}]}"#, missing),
            ]),
        Case(
            interface: "EqualizerController", name: "SetMode", taken: [#"{"mode":"MOVIE"}"#],
            refused: [("{}", missing), (#"{"mode":"OPERA"}"#, word), (#"{"mode":1}"#, missing)]),
        Case(
            interface: "SecurityPanelController", name: "Arm",
            taken: [#"{"armState":"ARMED_AWAY","armInstant":true}"#],
            refused: [
                ("{}", missing), (#"{"armState":"DISARMED"}"#, word),
                (#"{"armState":"ARMED_AWAY","armInstant":1}"#, missing),
            ]),
        Case(
            interface: "SecurityPanelController", name: "Disarm",
            taken: ["{}", #"{"authorization":{"type":"FOUR_DIGIT_PIN","value":"1234"}}"#],
            refused: [
                (#"{"authorization":"1234"}"#, missing), (#"{"authorization":{"value":"1234"}}"#, missing),
                (#"{"authorization":{"type":"FOUR_DIGIT_PIN","value":1234}}"#, missing),
            ]),
        Case(
            interface: "CameraStreamController", name: "InitializeCameraStreams",
            taken: [#"{"cameraStreams":[{"protocol":"RTSP","resolution":{"width":1920,"height":1080}}]}"#],
            refused: [
                ("{}", missing), (#"{"cameraStreams":[]}"#, missing), (#"{"cameraStreams":[{}]}"#, missing),
            ]),
    ]

    @Test("what an interface's table allows is taken; what it does not is refused by its reason", arguments: cases)
    func table(_ row: Case) throws {
        for payload in row.taken {
            #expect(try Self.refusal(row.interface, row.name, payload, instance: row.instance) == nil, "\(payload)")
        }
        for (payload, code) in row.refused {
            let refusal = try #require(
                try Self.refusal(row.interface, row.name, payload, instance: row.instance), "\(payload)")
            #expect(refusal.reasonCode == code, "\(payload)")
            #expect(refusal.echo.correlationToken == "c+/=")
            let detail = try #require(refusal.detail)
            #expect(detail.hasPrefix("directive.payload"), "\(detail)")
        }
    }

    @Test("directives without arguments and those whose arguments are not confirmed take any object")
    func open() throws {
        let names = [
            ("PowerController", ["TurnOn", "TurnOff"]), ("LockController", ["Lock", "Unlock"]),
            ("SceneController", ["Activate", "Deactivate"]), ("ThermostatController", ["ResumeSchedule"]),
            ("ColorTemperatureController", ["IncreaseColorTemperature", "DecreaseColorTemperature"]),
            (
                "PlaybackController",
                ["Play", "Pause", "Stop", "StartOver", "Previous", "Next", "Rewind", "FastForward"]
            ),
            ("SeekController", ["AdjustSeekPosition"]), ("Launcher", ["LaunchTarget"]),
            ("RecordController", ["StartRecording", "StopRecording"]), ("TimeHoldController", ["Hold", "Resume"]),
            ("RTCSessionController", ["InitiateSessionWithOffer", "SessionConnected", "SessionDisconnected"]),
            ("Cooking", ["SetCookingMode"]), ("Cooking.TimeController", ["CookByTime", "AdjustCookTime"]),
        ]
        for (interface, directives) in names {
            for name in directives {
                for payload in ["{}", #"{"anything":[1,{"a":null}]}"#] {
                    #expect(try Self.refusal(interface, name, payload) == nil, "\(interface).\(name)")
                }
            }
        }
        #expect(throws: DirectiveRejection.self) { try Self.directive("Alexa.Launcher", "LaunchTarget", "[]") }
    }

    @Test("an interface or a name that no table has is INVALID_DIRECTIVE, also where it differs by a letter")
    func unknown() throws {
        for (namespace, name) in [
            ("Alexa.PowerControler", "TurnOn"), ("Alexa.PowerController", "turnOn"),
            ("Alexa.PowerController", "Toggle"),
            ("alexa.PowerController", "TurnOn"), ("PowerController", "TurnOn"), ("Alexa", "StateReport"),
            ("Alexa.ContactSensor", "Open"), ("Alexa.Networking.AccessController", "SetNetworkAccess"),
        ] {
            let directive = try Self.directive(namespace, name, "{}")
            let rejection = #expect(throws: DirectiveRejection.self) { try directive.checked() }
            #expect(rejection?.reasonCode == "directive.unknown", "\(namespace).\(name)")
            #expect(rejection?.errorType == .invalidDirective)
        }
    }

    @Test("an interface with instances needs one, and others keep the one that they are given")
    func instances() throws {
        for (interface, name, payload) in [
            ("RangeController", "SetRangeValue", #"{"rangeValue":1}"#), ("ModeController", "SetMode", #"{"mode":"x"}"#),
            ("ToggleController", "TurnOn", "{}"),
        ] {
            for instance in [nil, ""] {
                let refusal = try Self.refusal(interface, name, payload, instance: instance)
                #expect(refusal?.reasonCode == "directive.malformed")
                #expect(refusal?.detail == "directive.header.instance")
            }
            let taken = try Self.directive("Alexa." + interface, name, payload, instance: "Fan.Speed").checked()
            #expect(taken.instance == "Fan.Speed")
        }
        let taken = try Self.directive("Alexa.PowerController", "TurnOn", "{}", instance: "Outlet 2").checked()
        #expect(taken.instance == "Outlet 2" && taken.endpointID == "e1")
    }

    @Test("a directive for no endpoint is refused, and so is a payload that names a member twice")
    func structure() throws {
        let homeless = try Self.directive("Alexa.PowerController", "TurnOn", "{}", endpoint: "null")
        #expect(#expect(throws: DirectiveRejection.self) { try homeless.checked() }?.detail == "directive.endpoint")
        let doubled = try Self.refusal("BrightnessController", "SetBrightness", #"{"brightness":1,"brightness":99}"#)
        #expect(doubled?.reasonCode == "directive.repeatedMember")
    }

    @Test(
        "VALUE_OUT_OF_RANGE carries the range as numbers; a misspelt word is INVALID_VALUE; the rest INVALID_DIRECTIVE")
    func answers() throws {
        let range = try #require(
            try Self.refusal("BrightnessController", "SetBrightness", #"{"brightness":101}"#))
        let event = Event.errorResponse(to: range)
        #expect(event.payload["type"] == "VALUE_OUT_OF_RANGE")
        #expect(event.payload["validRange"] == ["minimumValue": 0, "maximumValue": 100])
        #expect(event.violation() == nil)
        let word = try #require(try Self.refusal("SecurityPanelController", "Arm", #"{"armState":"DISARMED"}"#))
        #expect(Event.errorResponse(to: word).payload["type"] == "INVALID_VALUE")
        let kind = try #require(try Self.refusal("Speaker", "SetMute", #"{"mute":"SECRET-VALUE"}"#))
        let answer = Event.errorResponse(to: kind)
        #expect(answer.payload["type"] == "INVALID_DIRECTIVE")
        #expect(answer.payload["message"] == "directive.payload: directive.payload.mute is of the wrong kind")
        #expect(!String(decoding: answer.encoded(), as: UTF8.self).contains("SECRET-VALUE"))
    }

    @Test("answers are named as the tables of the interfaces say")
    func answerKinds() throws {
        for (interface, name, payload, answer) in [
            ("SceneController", "Activate", "{}", "Alexa.SceneController/ActivationStarted"),
            ("SceneController", "Deactivate", "{}", "Alexa.SceneController/DeactivationStarted"),
            (
                "SecurityPanelController", "Arm", #"{"armState":"ARMED_STAY"}"#,
                "Alexa.SecurityPanelController/Arm.Response"
            ),
            ("SecurityPanelController", "Disarm", "{}", "Alexa/Response"),
            (
                "CameraStreamController", "InitializeCameraStreams", #"{"cameraStreams":[{"protocol":"RTSP"}]}"#,
                "Alexa.CameraStreamController/Response"
            ),
            ("SeekController", "AdjustSeekPosition", "{}", "Alexa.SeekController/StateReport"),
            (
                "RTCSessionController", "InitiateSessionWithOffer", "{}",
                "Alexa.RTCSessionController/AnswerGeneratedForSession"
            ),
            ("PowerController", "TurnOn", "{}", "Alexa/Response"),
        ] {
            let rule = try Self.directive("Alexa." + interface, name, payload).checked().rule
            #expect(rule.answer.namespace + "/" + rule.answer.name == answer)
        }
        let report = try Self.directive("Alexa", "ReportState", "{}").checked().rule
        #expect(report.answer == .stateReport)
    }
}
