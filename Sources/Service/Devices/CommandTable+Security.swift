import Alexa
import Crypto
import JSON
import Time

extension CommandTable {
    static func lock(_ state: JSONValue) -> CommandRule {
        { (run) throws(DeviceRefusal) in
            guard run["lockState"] != "JAMMED" else { throw DeviceRefusal(.hardwareMalfunction, "The lock is jammed") }
            run["lockState"] = state
        }
    }

    // MARK: Scenes: that they begin is all there is to say

    static let activate: CommandRule = { (_) throws(DeviceRefusal) in }

    static let deactivate: CommandRule = { (run) throws(DeviceRefusal) in
        guard run.capability["supportsDeactivation"]?.bool == true else {
            throw .malformed("The scene cannot be undone")
        }
    }

    // MARK: Panels

    static let arm: CommandRule = { (run) throws(DeviceRefusal) in
        let armState = try run.text("armState")
        let states = run.capability["configuration"]?["supportedArmStates"]?.array?.compactMap { $0["value"]?.string }
        guard armState != "DISARMED", states?.contains(armState) == true else {
            throw DeviceRefusal(.invalidValue, "The panel cannot be armed so")
        }
        guard alarms.allSatisfy({ run[$0]?["value"] != "ALARM" }) else {
            throw DeviceRefusal(.unclearedAlarm, "An alarm has not been cleared")
        }
        let open = run.behaviour.open
        var payload = JSONObject()
        if !open.isEmpty {
            guard run.command.arguments["bypassType"]?.string == "BYPASS_ALL" else {
                throw DeviceRefusal(.bypassNeeded, "Something is open", ["endpointsNeedingBypass": .array(open)])
            }
            payload["bypassedEndpoints"] = .array(open)
        }
        let isInstant = run.command.arguments["armInstant"]?.bool == true
        if armState == "ARMED_AWAY", !isInstant, let delay = run.behaviour.exitDelaySeconds {
            payload["exitDelayInSeconds"] = .integer(delay)
        }
        run["armState"] = .string(armState)
        run.payload = payload
    }

    static let disarm: CommandRule = { (run) throws(DeviceRefusal) in
        if let pin = run.behaviour.pin { try check(pin, &run) }
        run["armState"] = "DISARMED"
        for alarm in alarms where run[alarm] != nil { run[alarm] = ["value": "OK"] }
    }

    private static let alarms = ["burglaryAlarm", "carbonMonoxideAlarm", "fireAlarm", "waterAlarm"]

    /// After so many wrong codes the panel takes none, the right one included, until a while has passed.
    static let wrongCodes: Int64 = 5
    static let wrongCodePauseSeconds: Int64 = 60

    private static func check(_ pin: Secret, _ run: inout CommandRun) throws(DeviceRefusal) {
        guard let given = run.command.arguments.given("authorization") else {
            throw DeviceRefusal(.authorizationRequired, "The panel wants its code")
        }
        guard given["type"]?.string == "FOUR_DIGIT_PIN", let code = given["value"]?.string else {
            throw .malformed("authorization is not a code of four digits")
        }
        var wrong = run.state.memory[.wrongCodes]?.integer ?? 0
        let last = run.state.memory[.lastWrongCode]?.integer ?? 0
        if run.now.milliseconds - last >= wrongCodePauseSeconds * 1000 { wrong = 0 }
        guard wrong < wrongCodes else {
            throw DeviceRefusal(.tooManyFailedAttempts, "Too many wrong codes")
        }
        guard constantTimeEquals(Array(code.utf8), Array(pin.exposed.utf8)) else {
            run.state.memory[.wrongCodes] = .integer(wrong + 1)
            run.state.memory[.lastWrongCode] = .integer(run.now.milliseconds)
            throw DeviceRefusal(.unauthorized, "The code is wrong")
        }
        run.state.memory[.wrongCodes] = nil
    }

    // MARK: Cameras

    private static let idleSeconds: Int64 = 30
    private static let streamSeconds: Int64 = 3600

    /// The streams of the wish list that the camera has.
    static let openStreams: CommandRule = { (run) throws(DeviceRefusal) in
        let configurations = run.capability["cameraStreamConfigurations"]?.array ?? []
        let found = try run.objects("cameraStreams").filter { wish in configurations.contains { offers($0, wish) } }
        guard !found.isEmpty, let uri = run.behaviour.streamURI else {
            throw DeviceRefusal(.invalidValue, "The camera has no such stream")
        }
        let expiry = run.now.adding(seconds: streamSeconds).iso8601()
        let streams = found.map { wish -> JSONValue in
            var stream: JSONObject = [
                "uri": .string(uri), "expirationTime": .string(expiry), "idleTimeoutSeconds": .integer(idleSeconds),
            ]
            for name in ["protocol", "resolution", "authorizationType", "videoCodec", "audioCodec"] {
                stream[name] = wish[name]
            }
            return .object(stream)
        }
        var payload: JSONObject = ["cameraStreams": .array(streams)]
        payload["imageUri"] = run.behaviour.imageURI.map(JSONValue.string)
        run.payload = payload
    }

    private static func offers(_ configuration: JSONValue, _ wish: JSONObject) -> Bool {
        [
            ("protocol", "protocols"), ("resolution", "resolutions"), ("authorizationType", "authorizationTypes"),
            ("videoCodec", "videoCodecs"), ("audioCodec", "audioCodecs"),
        ].allSatisfy { one, several in
            guard let value = wish[one] else { return false }
            return configuration[several]?.array?.contains(value) == true
        }
    }

    /// An answer to a WebRTC offer that takes neither sound nor picture: nobody is there who would send any.
    static let answerOffer: CommandRule = { (run) throws(DeviceRefusal) in
        _ = try run.text("sessionId")
        guard let offer = run.command.arguments["offer"], offer["format"]?.string == "SDP",
            let sdp = offer["value"]?.string, sdp.hasPrefix("v=0")
        else { throw .malformed("offer is not a session description") }
        let answer = [
            "v=0", "o=- 0 0 IN IP4 127.0.0.1", "s=-", "t=0 0", "m=audio 0 UDP/TLS/RTP/SAVPF 0",
            "m=video 0 UDP/TLS/RTP/SAVPF 96",
        ]
        run.payload = [
            "answer": ["format": "SDP", "value": .string(answer.map { $0 + "\r\n" }.joined())]
        ]
    }

    static let echoSession: CommandRule = { (run) throws(DeviceRefusal) in
        run.payload = ["sessionId": .string(try run.text("sessionId"))]
    }

    // MARK: Appliances

    static let hold: CommandRule = { (run) throws(DeviceRefusal) in
        guard run["holdStartTime"] == nil else { throw DeviceRefusal(.alreadyInOperation, "It is on hold already") }
        run["holdStartTime"] = .string(run.now.iso8601())
    }

    static let resume: CommandRule = { (run) throws(DeviceRefusal) in
        guard run["holdStartTime"] != nil else { throw DeviceRefusal(.notInOperation, "It is not on hold") }
        run["holdStartTime"] = nil
    }
}
