import JSON

/// How a device carries a command out.
typealias CommandRule = @Sendable (inout CommandRun) throws(DeviceRefusal) -> Void

/// What each command does: Alexa's interfaces as devices see them.
///
/// An interface that is missing here, such as a sensor's, takes no commands.
enum CommandTable {
    static let rules: [String: [String: CommandRule]] = [
        // Switches and levels
        "PowerController": ["TurnOn": turn(on: true), "TurnOff": turn(on: false)],
        "ToggleController": ["TurnOn": set("toggleState", to: "ON"), "TurnOff": set("toggleState", to: "OFF")],
        "BrightnessController": levels("brightness", set: "SetBrightness", adjust: "AdjustBrightness"),
        "PercentageController": levels("percentage", set: "SetPercentage", adjust: "AdjustPercentage"),
        "PowerLevelController": levels("powerLevel", set: "SetPowerLevel", adjust: "AdjustPowerLevel"),
        "RangeController": ["SetRangeValue": setRangeValue, "AdjustRangeValue": adjustRangeValue],
        "ModeController": ["SetMode": setMode, "AdjustMode": adjustMode],

        // Light
        "ColorController": ["SetColor": setColor],
        "ColorTemperatureController": [
            "SetColorTemperature": setColorTemperature,
            "IncreaseColorTemperature": stepColorTemperature(1),
            "DecreaseColorTemperature": stepColorTemperature(-1),
        ],

        // Climate
        "ThermostatController": [
            "SetTargetTemperature": setTargetTemperature,
            "AdjustTargetTemperature": adjustTargetTemperature,
            "SetThermostatMode": setThermostatMode,
            "ResumeSchedule": resumeSchedule,
        ],

        // Doors, alarms, scenes
        "LockController": ["Lock": lock("LOCKED"), "Unlock": lock("UNLOCKED")],
        "SecurityPanelController": ["Arm": arm, "Disarm": disarm],
        "SceneController": ["Activate": activate, "Deactivate": deactivate],

        // Sound and picture
        "Speaker": [
            "SetVolume": setVolume, "AdjustVolume": adjustVolume, "SetMute": setMute,
        ],
        "StepSpeaker": ["AdjustVolume": stepVolume, "SetMute": stepMute],
        "InputController": ["SelectInput": selectInput],
        "ChannelController": ["ChangeChannel": changeChannel, "SkipChannels": skipChannels],
        "PlaybackController": [
            "Play": playback("PLAYING"), "Pause": playback("PAUSED"), "Stop": playback("STOPPED", from: 0),
            "StartOver": playback("PLAYING", from: 0), "Previous": playback("PLAYING", from: 0),
            "Next": playback("PLAYING", from: 0), "Rewind": playback("PLAYING", by: -30_000),
            "FastForward": playback("PLAYING", by: 30_000),
        ],
        "SeekController": ["AdjustSeekPosition": seek],
        "EqualizerController": [
            "SetBands": setBands, "AdjustBands": adjustBands, "ResetBands": resetBands, "SetMode": setSoundMode,
        ],
        "Launcher": ["LaunchTarget": launch],
        "RecordController": [
            "StartRecording": set("RecordingState", to: "RECORDING"),
            "StopRecording": set("RecordingState", to: "NOT_RECORDING"),
        ],

        // Cameras
        "CameraStreamController": ["InitializeCameraStreams": openStreams],
        "RTCSessionController": [
            "InitiateSessionWithOffer": answerOffer, "SessionConnected": echoSession,
            "SessionDisconnected": echoSession,
        ],

        // Appliances
        "TimeHoldController": ["Hold": hold, "Resume": resume],
    ]
}
