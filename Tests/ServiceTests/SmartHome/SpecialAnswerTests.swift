import Alexa
import Concurrency
import HTTP
import JSON
import Service
import Telemetry
import TestSupport
import Testing
import Time

@Suite("Smart home: answers of their own kind", .timeLimit(.minutes(5))) struct SpecialAnswerTests {
    @Test(
        "202 is answered with DeferredResponse, with the seconds where the provider knows them",
        arguments: [(#"{"deferSeconds":15}"#, ["estimatedDeferralInSeconds": 15]), ("{}", [:])]
            as [(String, JSONValue)])
    func deferred(body: String, payload: JSONValue) async throws {
        let harness = try DeviceAnswerTests.harness(body, status: 202)
        let event = try await harness.event(
            SmartHomeHarness.directive("Alexa.LockController", "Lock", token: try harness.token()))
        #expect(event.eventName == "Alexa/DeferredResponse")
        #expect(event.header("correlationToken") == "ct-1")
        #expect(event["event"]?["endpoint"] == nil)
        #expect(event["event"]?["payload"] == payload)
        #expect(try SmartHomeSchema.fault(of: event) == nil)
        #expect(harness.reports.commanded.isEmpty)
    }

    static let special: [(String, String, JSONValue, String, String, JSONValue)] = [
        (
            "Alexa.SceneController", "Activate", [:], #"{"properties":[]}"#, "Alexa.SceneController/ActivationStarted",
            ["cause": ["type": "VOICE_INTERACTION"], "timestamp": "2025-01-15T10:00:00.000Z"]
        ),
        (
            "Alexa.SceneController", "Deactivate", [:], #"{"properties":[],"payload":{"cause":7}}"#,
            "Alexa.SceneController/DeactivationStarted",
            ["cause": ["type": "VOICE_INTERACTION"], "timestamp": "2025-01-15T10:00:00.000Z"]
        ),
        (
            "Alexa.SecurityPanelController", "Arm", ["armState": "ARMED_AWAY"],
            #"{"properties":[{"interface":"SecurityPanelController","name":"armState","value":"ARMED_AWAY"}],"#
                + #""payload":{"exitDelayInSeconds":60}}"#,
            "Alexa.SecurityPanelController/Arm.Response", ["exitDelayInSeconds": 60]
        ),
        (
            "Alexa.SecurityPanelController", "Disarm", [:],
            #"{"properties":[{"interface":"SecurityPanelController","name":"armState","value":"DISARMED"}]}"#,
            "Alexa/Response", [:]
        ),
        (
            "Alexa.CameraStreamController", "InitializeCameraStreams",
            [
                "cameraStreams": [
                    [
                        "protocol": "RTSP", "resolution": ["width": 1280, "height": 720], "authorizationType": "BASIC",
                        "videoCodec": "H264", "audioCodec": "AAC",
                    ]
                ]
            ],
            #"{"properties":[],"payload":{"cameraStreams":[{"uri":"rtsp://u:p@camera.example.com:443/1","#
                + #""protocol":"RTSP","resolution":{"width":1280,"height":720},"authorizationType":"BASIC","#
                + #""videoCodec":"H264","audioCodec":"AAC","idleTimeoutSeconds":30}],"#
                + #""imageUri":"https://camera.example.com/1.jpg"}}"#,
            "Alexa.CameraStreamController/Response",
            [
                "cameraStreams": [
                    [
                        "uri": "rtsp://u:p@camera.example.com:443/1", "protocol": "RTSP",
                        "resolution": ["width": 1280, "height": 720], "authorizationType": "BASIC",
                        "videoCodec": "H264", "audioCodec": "AAC", "idleTimeoutSeconds": 30,
                    ]
                ], "imageUri": "https://camera.example.com/1.jpg",
            ]
        ),
        (
            "Alexa.SeekController", "AdjustSeekPosition", ["deltaPositionMilliseconds": 30_000],
            #"{"properties":[],"payload":{"properties":[{"name":"positionMilliseconds","value":60000}]}}"#,
            "Alexa.SeekController/StateReport", ["properties": [["name": "positionMilliseconds", "value": 60_000]]]
        ),
        (
            "Alexa.RTCSessionController", "InitiateSessionWithOffer",
            ["sessionId": "s1", "offer": ["format": "SDP", "value": "v=0"]],
            #"{"properties":[],"payload":{"answer":{"format":"SDP","value":"v=0"}}}"#,
            "Alexa.RTCSessionController/AnswerGeneratedForSession", ["answer": ["format": "SDP", "value": "v=0"]]
        ),
    ]

    @Test("some directives have answers of their own, with what the provider says in their payload", arguments: special)
    func specialAnswers(
        row: (
            namespace: String, name: String, payload: JSONValue, body: String, event: String, answer: JSONValue
        )
    ) async throws {
        let harness = try DeviceAnswerTests.harness(row.body)
        let event = try await harness.event(
            SmartHomeHarness.directive(row.namespace, row.name, row.payload, token: try harness.token()))
        #expect(event.eventName == row.event)
        #expect(event["event"]?["payload"] == row.answer)
        #expect(event.header("correlationToken") == "ct-1")
        #expect(event["event"]?["endpoint"]?["endpointId"] == "e1")
        #expect(try SmartHomeSchema.fault(of: event) == nil)
    }

    @Test(
        "an answer whose payload would break the schema does not leave: INTERNAL_ERROR, after one command",
        arguments: [
            ("Alexa.SecurityPanelController", "Arm", ["armState": "ARMED_AWAY"], #"{"exitDelayInSeconds":256}"#),
            ("Alexa.SecurityPanelController", "Arm", ["armState": "ARMED_AWAY"], #"{"exitDelayInSeconds":"60"}"#),
            (
                "Alexa.SeekController", "AdjustSeekPosition", ["deltaPositionMilliseconds": 1],
                #"{"properties":[{"name":"positionMilliseconds","value":-1}]}"#
            ),
            (
                "Alexa.CameraStreamController", "InitializeCameraStreams", special[4].2,
                #"{"cameraStreams":[{}]}"#
            ),
        ] as [(String, String, JSONValue, String)])
    func badPayload(namespace: String, name: String, payload: JSONValue, answer: String) async throws {
        let harness = try DeviceAnswerTests.harness(#"{"properties":[],"payload":\#(answer)}"#)
        let event = try await harness.event(
            SmartHomeHarness.directive(namespace, name, payload, token: try harness.token()))
        #expect(event.eventName == "Alexa/ErrorResponse")
        #expect(event.errorType == "INTERNAL_ERROR")
        #expect(event.errorMessage == "response.schema")
        #expect(harness.deviceCalls.count == 1)
        #expect(try await harness.trace().reason == "response.schema")
        #expect(
            harness.metrics.prometheusText.contains(#"skillgate_invalid_answers_total{reason="response.schema"} 1"#))
    }
}
