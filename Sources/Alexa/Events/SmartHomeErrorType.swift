public import JSON

/// Every type of error that a smart-home answer may name.
public enum SmartHomeErrorType: String, Hashable, Sendable, CaseIterable {
    /// The command runs already.
    case alreadyInOperation = "ALREADY_IN_OPERATION"
    /// The provider's servers, or a hub, cannot be reached.
    case bridgeUnreachable = "BRIDGE_UNREACHABLE"
    /// The user switched control from outside off.
    case cloudControlDisabled = "CLOUD_CONTROL_DISABLED"
    /// The device is busy.
    case endpointBusy = "ENDPOINT_BUSY"
    /// The device's battery is low.
    case endpointLowPower = "ENDPOINT_LOW_POWER"
    /// The device is offline.
    case endpointUnreachable = "ENDPOINT_UNREACHABLE"
    /// Our token is past its time.
    case expiredAuthorizationCredential = "EXPIRED_AUTHORIZATION_CREDENTIAL"
    /// The device needs newer software.
    case firmwareOutOfDate = "FIRMWARE_OUT_OF_DATE"
    /// The device is broken.
    case hardwareMalfunction = "HARDWARE_MALFUNCTION"
    /// The user may not control the device.
    case insufficientPermissions = "INSUFFICIENT_PERMISSIONS"
    /// Anything else.
    case internalError = "INTERNAL_ERROR"
    /// Our token is unknown or revoked.
    case invalidAuthorizationCredential = "INVALID_AUTHORIZATION_CREDENTIAL"
    /// The directive is unknown or malformed.
    case invalidDirective = "INVALID_DIRECTIVE"
    /// A value is not acceptable.
    case invalidValue = "INVALID_VALUE"
    /// The user has no such device.
    case noSuchEndpoint = "NO_SUCH_ENDPOINT"
    /// The device is not calibrated.
    case notCalibrated = "NOT_CALIBRATED"
    /// The device is in a mode that does not allow it; `currentDeviceMode` is required.
    case notSupportedInCurrentMode = "NOT_SUPPORTED_IN_CURRENT_MODE"
    /// The device is not running.
    case notInOperation = "NOT_IN_OPERATION"
    /// The device cannot run at that level.
    case powerLevelNotSupported = "POWER_LEVEL_NOT_SUPPORTED"
    /// Too many commands.
    case rateLimitExceeded = "RATE_LIMIT_EXCEEDED"
    /// A value is out of range; `validRange` says which.
    case valueOutOfRange = "VALUE_OUT_OF_RANGE"
    /// A temperature is out of range; `validRange` says which.
    case temperatureValueOutOfRange = "TEMPERATURE_VALUE_OUT_OF_RANGE"
    /// Too many failed attempts.
    case tooManyFailedAttempts = "TOO_MANY_FAILED_ATTEMPTS"
    /// A partner's service is down.
    case partnerOutage = "PARTNER_OUTAGE"
    /// No HDMI-CEC.
    case hdmiCECNotPresent = "HDMI_CEC_NOT_PRESENT"
    /// HDMI-CEC is switched off.
    case hdmiCECDisabledOnDevice = "HDMI_CEC_DISABLED_ON_DEVICE"

    /// Something is in the way.
    case obstacleDetected = "OBSTACLE_DETECTED"
    /// The content does not allow it.
    case actionNotPermittedForContent = "ACTION_NOT_PERMITTED_FOR_CONTENT"

    /// The code could not be exchanged or stored.
    case acceptGrantFailed = "ACCEPT_GRANT_FAILED"

    /// The setpoints are too close; `minimumTemperatureDelta` is required.
    case requestedSetpointsTooClose = "REQUESTED_SETPOINTS_TOO_CLOSE"
    /// The thermostat is off.
    case thermostatIsOff = "THERMOSTAT_IS_OFF"
    /// The thermostat has no such mode.
    case unsupportedThermostatMode = "UNSUPPORTED_THERMOSTAT_MODE"
    /// The thermostat takes no two setpoints.
    case dualSetpointsUnsupported = "DUAL_SETPOINTS_UNSUPPORTED"
    /// The thermostat takes no three setpoints.
    case tripleSetpointsUnsupported = "TRIPLE_SETPOINTS_UNSUPPORTED"
    /// The thermostat keeps its schedule.
    case unwillingToSetSchedule = "UNWILLING_TO_SET_SCHEDULE"
    /// The thermostat keeps its value.
    case unwillingToSetValue = "UNWILLING_TO_SET_VALUE"

    /// A code is needed.
    case authorizationRequired = "AUTHORIZATION_REQUIRED"
    /// Some endpoints must be bypassed first.
    case bypassNeeded = "BYPASS_NEEDED"
    /// The panel is not ready.
    case notReady = "NOT_READY"
    /// The code is wrong.
    case unauthorized = "UNAUTHORIZED"
    /// An alarm has not been cleared.
    case unclearedAlarm = "UNCLEARED_ALARM"
    /// A fault has not been cleared.
    case unclearedTrouble = "UNCLEARED_TROUBLE"
    /// Nothing is there to be watched.
    case noActiveMonitorableDevices = "NO_ACTIVE_MONITORABLE_DEVICES"

    /// The child lock is on.
    case childLock = "CHILD_LOCK"
    /// The door has been closed for too long.
    case doorClosedTooLong = "DOOR_CLOSED_TOO_LONG"
    /// The door is open.
    case doorOpen = "DOOR_OPEN"
    /// It must be hot first.
    case preheatRequired = "PREHEAT_REQUIRED"
    /// A probe is needed.
    case probeRequired = "PROBE_REQUIRED"
    /// It cannot be started from afar.
    case remoteStartNotSupported = "REMOTE_START_NOT_SUPPORTED"
    /// The probe must go.
    case removeProbe = "REMOVE_PROBE"
    /// Starting from afar is switched off.
    case remoteStartDisabled = "REMOTE_START_DISABLED"
    /// Longer than it can cook; `maxCookTime` is required.
    case cookDurationTooLong = "COOK_DURATION_TOO_LONG"

    /// The namespace of the error answer.
    public var namespace: String {
        switch self {
        case .acceptGrantFailed: "Alexa.Authorization"
        case .requestedSetpointsTooClose, .thermostatIsOff, .unsupportedThermostatMode, .dualSetpointsUnsupported,
            .tripleSetpointsUnsupported, .unwillingToSetSchedule, .unwillingToSetValue:
            "Alexa.ThermostatController"
        case .authorizationRequired, .bypassNeeded, .notReady, .unauthorized, .unclearedAlarm, .unclearedTrouble,
            .noActiveMonitorableDevices:
            "Alexa.SecurityPanelController"
        case .childLock, .doorClosedTooLong, .doorOpen, .preheatRequired, .probeRequired, .remoteStartNotSupported,
            .removeProbe, .remoteStartDisabled, .cookDurationTooLong:
            "Alexa.Cooking"
        case .obstacleDetected: "Alexa.Safety"
        case .actionNotPermittedForContent: "Alexa.Video"
        default: "Alexa"
        }
    }

    /// The members that Alexa's schema demands or allows besides type and message.
    var details: Shape {
        switch self {
        case .notSupportedInCurrentMode:
            .object([.required("currentDeviceMode", .oneOf(["COLOR", "ASLEEP", "NOT_PROVISIONED", "OTHER"]))])
        case .endpointLowPower: .object([.optional("percentageState", .number())])
        case .valueOutOfRange: .object([.optional("validRange", range(of: .number()))])
        case .temperatureValueOutOfRange: .object([.optional("validRange", range(of: .temperature))])
        case .requestedSetpointsTooClose: .object([.required("minimumTemperatureDelta", .setpoint)])
        case .bypassNeeded: .object([.optional("endpointsNeedingBypass", .list(EventRule.namedEndpoint))])
        case .cookDurationTooLong: .object([.required("maxCookTime", .text(1...64))])
        default: .nothing
        }
    }

    /// What is wrong with the members besides type and message that an answer of this type should carry.
    public func fault(in given: JSONObject) -> ShapeFault? { details.fault(in: .object(given)) }

    /// What of `given` an answer of this type may carry; nil where a member that it must carry is missing or wrong.
    ///
    /// What the schema does not know, or of another kind than it demands, is left out.
    public func checkedDetails(_ given: JSONObject) -> JSONObject? {
        guard case .object(let members, _) = details else { return [:] }
        var checked: JSONObject = [:]
        for member in members {
            if let value = given[member.name], member.shape.fault(in: value) == nil {
                checked[member.name] = value
            } else if member.isRequired {
                return nil
            }
        }
        return checked
    }

    private func range(of shape: Shape) -> Shape {
        .object([.required("minimumValue", shape), .required("maximumValue", shape)])
    }
}
