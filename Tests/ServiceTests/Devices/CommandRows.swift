/// Commands in rows, each set played to one demo home from its start: device, command, arguments, and what comes of it.
///
/// A row with `error` is a refusal with at least these members; any other names properties as they are afterwards, and
/// `payload`. An instance stands in brackets behind its interface.
enum CommandRows {
    static let lamp = #"""
        lamp-hall | BrightnessController.SetBrightness | brightness: 40 | BrightnessController.brightness: 40, PowerController.powerState: 'ON'
        lamp-hall | BrightnessController.AdjustBrightness | brightnessDelta: 25 | BrightnessController.brightness: 65
        lamp-hall | BrightnessController.AdjustBrightness | brightnessDelta: 80 | BrightnessController.brightness: 100
        lamp-hall | BrightnessController.AdjustBrightness | brightnessDelta: -200 | BrightnessController.brightness: 0, PowerController.powerState: 'OFF'
        lamp-hall | PowerController.TurnOn | | BrightnessController.brightness: 100, PowerController.powerState: 'ON'
        lamp-hall | BrightnessController.SetBrightness | brightness: 40.0 | BrightnessController.brightness: 40
        lamp-hall | BrightnessController.SetBrightness | brightness: 101 | error: 'VALUE_OUT_OF_RANGE', validRange: { minimumValue: 0, maximumValue: 100 }
        lamp-hall | BrightnessController.SetBrightness | brightness: -1 | error: 'VALUE_OUT_OF_RANGE', validRange: { minimumValue: 0, maximumValue: 100 }
        lamp-hall | BrightnessController.SetBrightness | brightness: 40.5 | error: 'INVALID_VALUE'
        lamp-hall | BrightnessController.SetBrightness | brightness: '40' | error: 'INVALID_DIRECTIVE'
        lamp-hall | BrightnessController.SetBrightness | | error: 'INVALID_DIRECTIVE'
        lamp-hall | PowerController.TurnOff | | BrightnessController.brightness: 40, PowerController.powerState: 'OFF'
        lamp-hall | BrightnessController.AdjustBrightness | brightnessDelta: -5 | BrightnessController.brightness: 40, PowerController.powerState: 'OFF'
        lamp-hall | BrightnessController.AdjustBrightness | brightnessDelta: 5 | BrightnessController.brightness: 5, PowerController.powerState: 'ON'
        """#

    static let levels = #"""
        pump-aquarium | PercentageController.AdjustPercentage | percentageDelta: -20 | PercentageController.percentage: 15
        pump-aquarium | PercentageController.SetPercentage | percentage: 0 | PercentageController.percentage: 0
        pump-aquarium | PercentageController.SetPercentage | percentage: 100.5 | error: 'VALUE_OUT_OF_RANGE', validRange: { minimumValue: 0, maximumValue: 100 }
        pump-aquarium | PowerController.TurnOn | | error: 'INVALID_DIRECTIVE'
        strip-kitchen | PowerLevelController.SetPowerLevel | powerLevel: 42 | PowerLevelController.powerLevel: 42, PowerController.powerState: 'ON'
        strip-kitchen | PowerLevelController.AdjustPowerLevel | powerLevelDelta: -3 | PowerLevelController.powerLevel: 39
        strip-kitchen | PowerLevelController.SetPowerLevel | powerLevel: 400 | error: 'VALUE_OUT_OF_RANGE', validRange: { minimumValue: 0, maximumValue: 100 }
        strip-kitchen | PowerLevelController.AdjustPowerLevel | powerLevel: 4 | error: 'INVALID_DIRECTIVE'
        """#

    static let instances = #"""
        fan-bedroom | RangeController(Fan.Speed).SetRangeValue | rangeValue: 7 | RangeController.Fan.Speed.rangeValue: 7
        fan-bedroom | RangeController(Fan.Speed).SetRangeValue | rangeValue: 6.6 | RangeController.Fan.Speed.rangeValue: 7
        fan-bedroom | RangeController(Fan.Speed).AdjustRangeValue | rangeValueDelta: 9, rangeValueDeltaDefault: false | RangeController.Fan.Speed.rangeValue: 10
        fan-bedroom | RangeController(Fan.Speed).AdjustRangeValue | rangeValueDelta: -99 | RangeController.Fan.Speed.rangeValue: 1
        fan-bedroom | RangeController(Fan.Speed).SetRangeValue | rangeValue: 11 | error: 'VALUE_OUT_OF_RANGE', validRange: { minimumValue: 1, maximumValue: 10 }
        fan-bedroom | RangeController(Fan.Speed).SetRangeValue | rangeValue: 0 | error: 'VALUE_OUT_OF_RANGE'
        fan-bedroom | RangeController.SetRangeValue | rangeValue: 5 | error: 'INVALID_DIRECTIVE'
        fan-bedroom | RangeController(Fan.Height).SetRangeValue | rangeValue: 5 | error: 'INVALID_DIRECTIVE'
        fan-bedroom | ToggleController(Fan.Oscillate).TurnOn | | ToggleController.Fan.Oscillate.toggleState: 'ON'
        fan-bedroom | ToggleController(Fan.Oscillate).TurnOff | | ToggleController.Fan.Oscillate.toggleState: 'OFF'
        fan-bedroom | ToggleController(Fan.Oscillate).Toggle | | error: 'INVALID_DIRECTIVE'
        fan-bedroom | ModeController(Fan.Program).SetMode | mode: 'Program.Sleep' | ModeController.Fan.Program.mode: 'Program.Sleep'
        fan-bedroom | ModeController(Fan.Program).SetMode | mode: 'Program.Party' | error: 'INVALID_VALUE'
        fan-bedroom | ModeController(Fan.Program).SetMode | mode: { value: 'Program.Sleep' } | error: 'INVALID_DIRECTIVE'
        fan-bedroom | ModeController(Fan.Program).AdjustMode | modeDelta: 1 | error: 'INVALID_DIRECTIVE'
        blind-bedroom | RangeController(Blind.Lift).SetRangeValue | rangeValue: 33 | RangeController.Blind.Lift.rangeValue: 35
        shutter-terrace | ModeController(Shutter.Position).AdjustMode | modeDelta: -2 | ModeController.Shutter.Position.mode: 'Position.Down'
        shutter-terrace | ModeController(Shutter.Position).AdjustMode | modeDelta: 1 | ModeController.Shutter.Position.mode: 'Position.Half'
        shutter-terrace | ModeController(Shutter.Position).AdjustMode | modeDelta: 2 | error: 'VALUE_OUT_OF_RANGE'
        shutter-terrace | ModeController(Shutter.Position).AdjustMode | modeDelta: -2 | error: 'VALUE_OUT_OF_RANGE'
        shutter-terrace | ModeController(Shutter.Position).AdjustMode | modeDelta: 0.5 | error: 'INVALID_VALUE'
        """#

    static let light = #"""
        lamp-living-room | ColorController.SetColor | color: { hue: 350.5, saturation: 0.7138, brightness: 0.6524 } | ColorController.color: { hue: 350.5, saturation: 0.7138, brightness: 0.6524 }
        lamp-living-room | ColorTemperatureController.IncreaseColorTemperature | | error: 'NOT_SUPPORTED_IN_CURRENT_MODE', currentDeviceMode: 'COLOR'
        lamp-living-room | ColorTemperatureController.SetColorTemperature | colorTemperatureInKelvin: 8800 | ColorTemperatureController.colorTemperatureInKelvin: 8800
        lamp-living-room | ColorTemperatureController.IncreaseColorTemperature | | ColorTemperatureController.colorTemperatureInKelvin: 9000
        lamp-living-room | ColorTemperatureController.DecreaseColorTemperature | | ColorTemperatureController.colorTemperatureInKelvin: 8500
        lamp-living-room | ColorTemperatureController.SetColorTemperature | colorTemperatureInKelvin: 1900 | error: 'VALUE_OUT_OF_RANGE', validRange: { minimumValue: 2000, maximumValue: 9000 }
        lamp-living-room | ColorTemperatureController.SetColorTemperature | colorTemperatureInKelvin: 9001 | error: 'VALUE_OUT_OF_RANGE'
        lamp-living-room | ColorController.SetColor | color: { hue: 361, saturation: 0, brightness: 0 } | error: 'VALUE_OUT_OF_RANGE', validRange: { minimumValue: 0, maximumValue: 360 }
        lamp-living-room | ColorController.SetColor | color: { hue: 1, saturation: 1.1, brightness: 0 } | error: 'VALUE_OUT_OF_RANGE'
        lamp-living-room | ColorController.SetColor | color: { hue: 1, saturation: 1 } | error: 'INVALID_DIRECTIVE'
        lamp-living-room | ColorController.SetColor | color: 'red' | error: 'INVALID_DIRECTIVE'
        """#

    static let security = #"""
        lock-front | LockController.Unlock | | LockController.lockState: 'UNLOCKED'
        lock-front | LockController.Lock | | LockController.lockState: 'LOCKED'
        lock-shed | LockController.Lock | | error: 'HARDWARE_MALFUNCTION'
        lock-front | LockController.Open | | error: 'INVALID_DIRECTIVE'
        lock-front | PowerController.TurnOn | | error: 'INVALID_DIRECTIVE'
        panel-house | SecurityPanelController.Arm | armState: 'ARMED_AWAY' | SecurityPanelController.armState: 'ARMED_AWAY', payload: { exitDelayInSeconds: 30 }
        panel-house | SecurityPanelController.Arm | armState: 'ARMED_STAY' | SecurityPanelController.armState: 'ARMED_STAY', payload: {}
        panel-house | SecurityPanelController.Arm | armState: 'ARMED_AWAY', armInstant: true | payload: {}
        panel-house | SecurityPanelController.Arm | armState: 'ARMED_WELL' | error: 'INVALID_VALUE'
        panel-house | SecurityPanelController.Arm | armState: 'DISARMED' | error: 'INVALID_VALUE'
        panel-house | SecurityPanelController.Arm | | error: 'INVALID_DIRECTIVE'
        panel-house | SecurityPanelController.Disarm | | error: 'AUTHORIZATION_REQUIRED'
        panel-house | SecurityPanelController.Disarm | authorization: { type: 'FOUR_DIGIT_PIN', value: '4321' } | error: 'UNAUTHORIZED'
        panel-house | SecurityPanelController.Disarm | authorization: { type: 'FOUR_DIGIT_PIN', value: '123' } | error: 'UNAUTHORIZED'
        panel-house | SecurityPanelController.Disarm | authorization: { type: 'VOICE', value: '1234' } | error: 'INVALID_DIRECTIVE'
        panel-house | SecurityPanelController.Disarm | authorization: { type: 'FOUR_DIGIT_PIN', value: '1234' } | SecurityPanelController.armState: 'DISARMED'
        panel-annex | SecurityPanelController.Arm | armState: 'ARMED_AWAY' | error: 'BYPASS_NEEDED', endpointsNeedingBypass: [{ friendlyName: 'Kitchen window', endpointId: 'contact-kitchen-window' }]
        panel-annex | SecurityPanelController.Arm | armState: 'ARMED_AWAY', bypassType: 'SOME' | error: 'BYPASS_NEEDED'
        panel-annex | SecurityPanelController.Arm | armState: 'ARMED_NIGHT', bypassType: 'BYPASS_ALL' | error: 'INVALID_VALUE'
        panel-annex | SecurityPanelController.Arm | armState: 'ARMED_AWAY', bypassType: 'BYPASS_ALL' | SecurityPanelController.armState: 'ARMED_AWAY', payload: { bypassedEndpoints: [{ friendlyName: 'Kitchen window', endpointId: 'contact-kitchen-window' }] }
        panel-annex | SecurityPanelController.Disarm | | SecurityPanelController.armState: 'DISARMED'
        scene-movie-night | SceneController.Activate | |
        scene-movie-night | SceneController.Deactivate | |
        scene-good-night | SceneController.Activate | |
        scene-good-night | SceneController.Deactivate | | error: 'INVALID_DIRECTIVE'
        """#

    static let television = #"""
        tv-living-room | Speaker.SetVolume | volume: 100 | Speaker.volume: 100
        tv-living-room | Speaker.AdjustVolume | volume: -20, volumeDefault: false | Speaker.volume: 80
        tv-living-room | Speaker.AdjustVolume | volume: -90, volumeDefault: false | Speaker.volume: 0
        tv-living-room | Speaker.SetMute | mute: true | Speaker.muted: true
        tv-living-room | Speaker.SetMute | mute: 'yes' | error: 'INVALID_DIRECTIVE'
        tv-living-room | Speaker.SetVolume | volume: 101 | error: 'VALUE_OUT_OF_RANGE', validRange: { minimumValue: 0, maximumValue: 100 }
        tv-living-room | Speaker.SetVolume | volume: 1.5 | error: 'INVALID_VALUE'
        tv-living-room | InputController.SelectInput | input: 'HDMI1' | InputController.input: 'HDMI 1'
        tv-living-room | InputController.SelectInput | input: 'aux 1' | InputController.input: 'AUX 1'
        tv-living-room | InputController.SelectInput | input: 'SCART' | error: 'INVALID_VALUE'
        tv-living-room | ChannelController.ChangeChannel | channel: { number: '24' }, channelMetadata: { name: 'x' } | ChannelController.channel: { number: '24', callSign: 'KIDS' }
        tv-living-room | ChannelController.ChangeChannel | channel: {}, channelMetadata: { name: 'Sport' } | ChannelController.channel: { number: '2', callSign: 'SPORT' }
        tv-living-room | ChannelController.ChangeChannel | channel: { number: '3' } | error: 'INVALID_VALUE'
        tv-living-room | ChannelController.ChangeChannel | channel: {} | error: 'INVALID_DIRECTIVE'
        tv-living-room | ChannelController.SkipChannels | channelCount: 2 | ChannelController.channel: { number: '1', callSign: 'NEWS' }
        tv-living-room | ChannelController.SkipChannels | channelCount: -1 | ChannelController.channel: { number: '24', callSign: 'KIDS' }
        tv-living-room | PlaybackController.Play | | PlaybackStateReporter.playbackState: { state: 'PLAYING' }
        tv-living-room | PlaybackController.Pause | | PlaybackStateReporter.playbackState: { state: 'PAUSED' }
        tv-living-room | PlaybackController.Dance | | error: 'INVALID_DIRECTIVE'
        tv-living-room | Launcher.LaunchTarget | identifier: 'app.1', name: 'Films' | Launcher.target: { name: 'Films', identifier: 'app.1' }
        tv-living-room | PowerController.TurnOff | | PowerController.powerState: 'OFF'
        tv-living-room | InputController.SelectInput | input: 'TV' | PowerController.powerState: 'ON'
        """#

    static let sound = #"""
        radio-kitchen | StepSpeaker.AdjustVolume | volumeSteps: -20, volumeStepsDefault: false | PowerController.powerState: 'OFF'
        radio-kitchen | StepSpeaker.SetMute | mute: true |
        radio-kitchen | StepSpeaker.AdjustVolume | | error: 'INVALID_DIRECTIVE'
        soundbar-living-room | PlaybackController.FastForward | | error: 'INVALID_DIRECTIVE'
        soundbar-living-room | EqualizerController.SetBands | bands: [{ name: 'BASS', level: -2 }] | EqualizerController.bands: [{ name: 'BASS', value: -2 }, { name: 'MIDRANGE', value: 0 }, { name: 'TREBLE', value: 1 }]
        soundbar-living-room | EqualizerController.AdjustBands | bands: [{ name: 'BASS', levelDelta: 3, levelDirection: 'DOWN' }, { name: 'TREBLE', levelDelta: 9, levelDirection: 'UP' }] | EqualizerController.bands: [{ name: 'BASS', value: -5 }, { name: 'MIDRANGE', value: 0 }, { name: 'TREBLE', value: 6 }]
        soundbar-living-room | EqualizerController.ResetBands | bands: [{ name: 'BASS' }] | EqualizerController.bands: [{ name: 'BASS', value: 0 }, { name: 'MIDRANGE', value: 0 }, { name: 'TREBLE', value: 6 }]
        soundbar-living-room | EqualizerController.ResetBands | | EqualizerController.bands: [{ name: 'BASS', value: 0 }, { name: 'MIDRANGE', value: 0 }, { name: 'TREBLE', value: 0 }]
        soundbar-living-room | EqualizerController.SetBands | bands: [{ name: 'MIDRANGE', level: 7 }] | error: 'VALUE_OUT_OF_RANGE', validRange: { minimumValue: -6, maximumValue: 6 }
        soundbar-living-room | EqualizerController.SetBands | bands: [{ name: 'LOUD', level: 1 }] | error: 'INVALID_VALUE'
        soundbar-living-room | EqualizerController.SetBands | bands: [] | error: 'INVALID_DIRECTIVE'
        soundbar-living-room | EqualizerController.SetMode | mode: 'MOVIE' | EqualizerController.mode: 'MOVIE'
        soundbar-living-room | EqualizerController.SetMode | mode: 'SPORT' | error: 'INVALID_VALUE'
        """#

    static let playing = #"""
        recorder-living-room | SeekController.AdjustSeekPosition | deltaPositionMilliseconds: 30000 | payload: { properties: [{ name: 'positionMilliseconds', value: 30000 }] }
        recorder-living-room | SeekController.AdjustSeekPosition | deltaPositionMilliseconds: -90000 | payload: { properties: [{ name: 'positionMilliseconds', value: 0 }] }
        recorder-living-room | SeekController.AdjustSeekPosition | deltaPositionMilliseconds: 86400000 | payload: { properties: [{ name: 'positionMilliseconds', value: 5400000 }] }
        recorder-living-room | SeekController.AdjustSeekPosition | | error: 'INVALID_DIRECTIVE'
        recorder-living-room | PlaybackController.StartOver | | PlaybackStateReporter.playbackState: { state: 'PLAYING' }
        recorder-living-room | PlaybackController.FastForward | |
        recorder-living-room | SeekController.AdjustSeekPosition | deltaPositionMilliseconds: 0 | payload: { properties: [{ name: 'positionMilliseconds', value: 30000 }] }
        recorder-living-room | RecordController.StartRecording | | RecordController.RecordingState: 'RECORDING'
        recorder-living-room | RecordController.StopRecording | | RecordController.RecordingState: 'NOT_RECORDING'
        washer-cellar | TimeHoldController.Hold | | TimeHoldController.holdStartTime: '2025-01-15T10:00:00Z'
        washer-cellar | TimeHoldController.Hold | | error: 'ALREADY_IN_OPERATION'
        washer-cellar | TimeHoldController.Resume | |
        washer-cellar | TimeHoldController.Resume | | error: 'NOT_IN_OPERATION'
        """#

    static let cameras = #"""
        camera-garden | CameraStreamController.InitializeCameraStreams | cameraStreams: [{ protocol: 'RTSP', resolution: { width: 1280, height: 720 }, authorizationType: 'NONE', videoCodec: 'H264', audioCodec: 'AAC' }, { protocol: 'HLS', resolution: { width: 1280, height: 720 }, authorizationType: 'NONE', videoCodec: 'H264', audioCodec: 'AAC' }] | payload: { cameraStreams: [{ uri: 'rtsp://media.example.com:554/garden', expirationTime: '2025-01-15T11:00:00Z', idleTimeoutSeconds: 30, protocol: 'RTSP', resolution: { width: 1280, height: 720 }, authorizationType: 'NONE', videoCodec: 'H264', audioCodec: 'AAC' }], imageUri: 'https://media.example.com/garden.jpg' }
        camera-garden | CameraStreamController.InitializeCameraStreams | cameraStreams: [{ protocol: 'RTSP', resolution: { width: 3840, height: 720 }, authorizationType: 'NONE', videoCodec: 'H264', audioCodec: 'AAC' }] | error: 'INVALID_VALUE'
        camera-garden | CameraStreamController.InitializeCameraStreams | cameraStreams: [] | error: 'INVALID_DIRECTIVE'
        camera-garden | CameraStreamController.InitializeCameraStreams | | error: 'INVALID_DIRECTIVE'
        camera-garden | RTCSessionController.SessionConnected | sessionId: 'S' | payload: { sessionId: 'S' }
        camera-garden | RTCSessionController.SessionDisconnected | sessionId: 'S' | payload: { sessionId: 'S' }
        camera-garden | RTCSessionController.SessionDisconnected | | error: 'INVALID_DIRECTIVE'
        camera-garden | RTCSessionController.InitiateSessionWithOffer | sessionId: 'S', offer: { format: 'SDP', value: '' } | error: 'INVALID_DIRECTIVE'
        """#

    static let all = [lamp, levels, instances, light, security, television, sound, playing, cameras]
}
