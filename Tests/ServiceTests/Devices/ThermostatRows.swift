/// Rows as in ``CommandRows`` for thermostats: what they take, in which scale, and why they refuse.
///
/// SHR-10: half degrees are kept, and temperatures of another scale are not rounded to whole ones.
enum ThermostatRows {
    static let single = #"""
        thermostat-living-room | ThermostatController.SetTargetTemperature | targetSetpoint: { value: 21.5, scale: 'CELSIUS' } | ThermostatController.targetSetpoint: { value: 21.5, scale: 'CELSIUS' }
        thermostat-living-room | ThermostatController.SetTargetTemperature | targetSetpoint: { value: 70.7, scale: 'FAHRENHEIT' } | ThermostatController.targetSetpoint: { value: 21.5, scale: 'CELSIUS' }
        thermostat-living-room | ThermostatController.SetTargetTemperature | targetSetpoint: { value: 294.65, scale: 'KELVIN' } | ThermostatController.targetSetpoint: { value: 21.5, scale: 'CELSIUS' }
        thermostat-living-room | ThermostatController.AdjustTargetTemperature | targetSetpointDelta: { value: 0.5, scale: 'CELSIUS' } | ThermostatController.targetSetpoint: { value: 22, scale: 'CELSIUS' }
        thermostat-living-room | ThermostatController.AdjustTargetTemperature | targetSetpointDelta: { value: 0.5, scale: 'CELSIUS' } | ThermostatController.targetSetpoint: { value: 22.5, scale: 'CELSIUS' }
        thermostat-living-room | ThermostatController.AdjustTargetTemperature | targetSetpointDelta: { value: -0.1, scale: 'CELSIUS' } | ThermostatController.targetSetpoint: { value: 22.4, scale: 'CELSIUS' }
        thermostat-living-room | ThermostatController.AdjustTargetTemperature | targetSetpointDelta: { value: 0.9, scale: 'FAHRENHEIT' } | ThermostatController.targetSetpoint: { value: 22.9, scale: 'CELSIUS' }
        thermostat-living-room | ThermostatController.AdjustTargetTemperature | targetSetpointDelta: { value: 100, scale: 'CELSIUS' } | ThermostatController.targetSetpoint: { value: 35, scale: 'CELSIUS' }
        thermostat-living-room | ThermostatController.AdjustTargetTemperature | targetSetpointDelta: { value: -100, scale: 'CELSIUS' } | ThermostatController.targetSetpoint: { value: 5, scale: 'CELSIUS' }
        thermostat-living-room | ThermostatController.SetTargetTemperature | targetSetpoint: { value: 5, scale: 'CELSIUS' } | ThermostatController.targetSetpoint: { value: 5, scale: 'CELSIUS' }
        thermostat-living-room | ThermostatController.SetTargetTemperature | targetSetpoint: { value: 4.9, scale: 'CELSIUS' } | error: 'TEMPERATURE_VALUE_OUT_OF_RANGE', validRange: { minimumValue: { value: 5, scale: 'CELSIUS' }, maximumValue: { value: 35, scale: 'CELSIUS' } }
        thermostat-living-room | ThermostatController.SetTargetTemperature | targetSetpoint: { value: 35.1, scale: 'CELSIUS' } | error: 'TEMPERATURE_VALUE_OUT_OF_RANGE', validRange: { minimumValue: { value: 5, scale: 'CELSIUS' }, maximumValue: { value: 35, scale: 'CELSIUS' } }
        thermostat-living-room | ThermostatController.SetTargetTemperature | targetSetpoint: { value: 99, scale: 'FAHRENHEIT' } | error: 'TEMPERATURE_VALUE_OUT_OF_RANGE', validRange: { minimumValue: { value: 5, scale: 'CELSIUS' }, maximumValue: { value: 35, scale: 'CELSIUS' } }
        thermostat-living-room | ThermostatController.SetTargetTemperature | targetSetpoint: { value: '21', scale: 'CELSIUS' } | error: 'INVALID_DIRECTIVE'
        thermostat-living-room | ThermostatController.SetTargetTemperature | targetSetpoint: { value: 21, scale: 'WARM' } | error: 'INVALID_DIRECTIVE'
        thermostat-living-room | ThermostatController.SetTargetTemperature |  | error: 'INVALID_DIRECTIVE'
        thermostat-living-room | ThermostatController.AdjustTargetTemperature | | error: 'INVALID_DIRECTIVE'
        thermostat-living-room | ThermostatController.SetTargetTemperature | lowerSetpoint: { value: 18, scale: 'CELSIUS' }, upperSetpoint: { value: 24, scale: 'CELSIUS' } | error: 'DUAL_SETPOINTS_UNSUPPORTED'
        thermostat-living-room | ThermostatController.SetTargetTemperature | targetSetpoint: { value: 20, scale: 'CELSIUS' }, lowerSetpoint: { value: 18, scale: 'CELSIUS' }, upperSetpoint: { value: 24, scale: 'CELSIUS' } | error: 'TRIPLE_SETPOINTS_UNSUPPORTED'
        thermostat-living-room | ThermostatController.ResumeSchedule | | ThermostatController.targetSetpoint: { value: 21.5, scale: 'CELSIUS' }
        """#

    static let modes = #"""
        thermostat-living-room | ThermostatController.SetThermostatMode | thermostatMode: { value: 'COOL' } | ThermostatController.thermostatMode: 'COOL'
        thermostat-living-room | ThermostatController.SetThermostatMode | thermostatMode: { value: 'CUSTOM' } | error: 'UNSUPPORTED_THERMOSTAT_MODE'
        thermostat-living-room | ThermostatController.SetThermostatMode | thermostatMode: { value: 'OFF' } | ThermostatController.thermostatMode: 'OFF'
        thermostat-living-room | ThermostatController.SetTargetTemperature | targetSetpoint: { value: 21, scale: 'CELSIUS' } | error: 'THERMOSTAT_IS_OFF'
        thermostat-living-room | ThermostatController.AdjustTargetTemperature | targetSetpointDelta: { value: 1, scale: 'CELSIUS' } | error: 'THERMOSTAT_IS_OFF'
        thermostat-office | ThermostatController.SetThermostatMode | thermostatMode: { value: 'ECO' } | error: 'UNSUPPORTED_THERMOSTAT_MODE'
        thermostat-office | ThermostatController.SetThermostatMode | thermostatMode: 'HEAT' | error: 'INVALID_DIRECTIVE'
        thermostat-living-room | ThermostatController.SetThermostatMode | thermostatMode: { value: 'AUTO' } | ThermostatController.thermostatMode: 'AUTO'
        thermostat-living-room | ThermostatController.SetTargetTemperature | targetSetpoint: { value: 21, scale: 'CELSIUS' } | ThermostatController.targetSetpoint: { value: 21, scale: 'CELSIUS' }
        thermostat-den | ThermostatController.ResumeSchedule | | error: 'UNWILLING_TO_SET_SCHEDULE'
        thermostat-den | ThermostatController.SetTargetTemperature | targetSetpoint: { value: 70, scale: 'FAHRENHEIT' }, schedule: { start: '2025-01-15T12:00:00Z' } | error: 'UNWILLING_TO_SET_SCHEDULE'
        """#

    static let dual = #"""
        thermostat-upstairs | ThermostatController.SetTargetTemperature | lowerSetpoint: { value: 18, scale: 'CELSIUS' }, upperSetpoint: { value: 25.5, scale: 'CELSIUS' } | ThermostatController.lowerSetpoint: { value: 18, scale: 'CELSIUS' }, ThermostatController.upperSetpoint: { value: 25.5, scale: 'CELSIUS' }
        thermostat-upstairs | ThermostatController.SetTargetTemperature | lowerSetpoint: { value: 23, scale: 'CELSIUS' } | ThermostatController.lowerSetpoint: { value: 23, scale: 'CELSIUS' }, ThermostatController.upperSetpoint: { value: 25.5, scale: 'CELSIUS' }
        thermostat-upstairs | ThermostatController.SetTargetTemperature | lowerSetpoint: { value: 24, scale: 'CELSIUS' } | error: 'REQUESTED_SETPOINTS_TOO_CLOSE', minimumTemperatureDelta: { value: 2, scale: 'CELSIUS' }
        thermostat-upstairs | ThermostatController.SetTargetTemperature | upperSetpoint: { value: 20, scale: 'CELSIUS' } | error: 'REQUESTED_SETPOINTS_TOO_CLOSE', minimumTemperatureDelta: { value: 2, scale: 'CELSIUS' }
        thermostat-upstairs | ThermostatController.SetTargetTemperature | lowerSetpoint: { value: 25, scale: 'CELSIUS' }, upperSetpoint: { value: 20, scale: 'CELSIUS' } | error: 'REQUESTED_SETPOINTS_TOO_CLOSE', minimumTemperatureDelta: { value: 2, scale: 'CELSIUS' }
        thermostat-upstairs | ThermostatController.SetTargetTemperature | lowerSetpoint: { value: 6, scale: 'CELSIUS' }, upperSetpoint: { value: 20, scale: 'CELSIUS' } | error: 'TEMPERATURE_VALUE_OUT_OF_RANGE'
        thermostat-upstairs | ThermostatController.SetTargetTemperature | lowerSetpoint: { value: 20, scale: 'CELSIUS' }, upperSetpoint: { value: 22, scale: 'CELSIUS' } | ThermostatController.lowerSetpoint: { value: 20, scale: 'CELSIUS' }, ThermostatController.upperSetpoint: { value: 22, scale: 'CELSIUS' }
        thermostat-upstairs | ThermostatController.SetTargetTemperature | targetSetpoint: { value: 25, scale: 'CELSIUS' } | ThermostatController.lowerSetpoint: { value: 24, scale: 'CELSIUS' }, ThermostatController.upperSetpoint: { value: 26, scale: 'CELSIUS' }
        thermostat-upstairs | ThermostatController.AdjustTargetTemperature | targetSetpointDelta: { value: -1.5, scale: 'CELSIUS' } | ThermostatController.lowerSetpoint: { value: 22.5, scale: 'CELSIUS' }, ThermostatController.upperSetpoint: { value: 24.5, scale: 'CELSIUS' }
        thermostat-upstairs | ThermostatController.AdjustTargetTemperature | targetSetpointDelta: { value: 50, scale: 'CELSIUS' } | ThermostatController.lowerSetpoint: { value: 30, scale: 'CELSIUS' }, ThermostatController.upperSetpoint: { value: 32, scale: 'CELSIUS' }
        thermostat-upstairs | ThermostatController.SetTargetTemperature | targetSetpoint: { value: 20, scale: 'CELSIUS' }, lowerSetpoint: { value: 18, scale: 'CELSIUS' }, upperSetpoint: { value: 24, scale: 'CELSIUS' } | error: 'TRIPLE_SETPOINTS_UNSUPPORTED'
        thermostat-upstairs | ThermostatController.SetThermostatMode | thermostatMode: { value: 'HEAT' } | 
        thermostat-upstairs | ThermostatController.SetTargetTemperature | targetSetpoint: { value: 21, scale: 'CELSIUS' } | ThermostatController.lowerSetpoint: { value: 21, scale: 'CELSIUS' }, ThermostatController.upperSetpoint: { value: 32, scale: 'CELSIUS' }
        thermostat-upstairs | ThermostatController.AdjustTargetTemperature | targetSetpointDelta: { value: 1, scale: 'CELSIUS' } | ThermostatController.lowerSetpoint: { value: 22, scale: 'CELSIUS' }, ThermostatController.upperSetpoint: { value: 32, scale: 'CELSIUS' }
        thermostat-upstairs | ThermostatController.SetTargetTemperature | lowerSetpoint: { value: 18, scale: 'CELSIUS' }, upperSetpoint: { value: 24, scale: 'CELSIUS' } | error: 'DUAL_SETPOINTS_UNSUPPORTED'
        thermostat-upstairs | ThermostatController.SetTargetTemperature | targetSetpoint: { value: 31.5, scale: 'CELSIUS' } | ThermostatController.lowerSetpoint: { value: 31.5, scale: 'CELSIUS' }, ThermostatController.upperSetpoint: { value: 32, scale: 'CELSIUS' }
        thermostat-upstairs | ThermostatController.AdjustTargetTemperature | targetSetpointDelta: { value: 9, scale: 'CELSIUS' } | ThermostatController.lowerSetpoint: { value: 32, scale: 'CELSIUS' }, ThermostatController.upperSetpoint: { value: 32, scale: 'CELSIUS' }
        thermostat-upstairs | ThermostatController.SetTargetTemperature | targetSetpoint: { value: 33, scale: 'CELSIUS' } | error: 'TEMPERATURE_VALUE_OUT_OF_RANGE'
        thermostat-upstairs | ThermostatController.SetThermostatMode | thermostatMode: { value: 'COOL' } | 
        thermostat-upstairs | ThermostatController.SetTargetTemperature | targetSetpoint: { value: 23, scale: 'CELSIUS' } | ThermostatController.lowerSetpoint: { value: 21, scale: 'CELSIUS' }, ThermostatController.upperSetpoint: { value: 23, scale: 'CELSIUS' }
        thermostat-upstairs | ThermostatController.SetTargetTemperature | targetSetpoint: { value: 7, scale: 'CELSIUS' } | ThermostatController.lowerSetpoint: { value: 7, scale: 'CELSIUS' }, ThermostatController.upperSetpoint: { value: 7, scale: 'CELSIUS' }
        thermostat-upstairs | ThermostatController.SetThermostatMode | thermostatMode: { value: 'AUTO' } |
        thermostat-upstairs | ThermostatController.SetTargetTemperature | targetSetpoint: { value: 20, scale: 'CELSIUS' } | ThermostatController.lowerSetpoint: { value: 19, scale: 'CELSIUS' }, ThermostatController.upperSetpoint: { value: 21, scale: 'CELSIUS' }
        thermostat-upstairs | ThermostatController.SetTargetTemperature | targetSetpoint: { value: 7, scale: 'CELSIUS' } | ThermostatController.lowerSetpoint: { value: 7, scale: 'CELSIUS' }, ThermostatController.upperSetpoint: { value: 9, scale: 'CELSIUS' }
        """#

    static let triple = #"""
        thermostat-office | ThermostatController.SetTargetTemperature | targetSetpoint: { value: 70, scale: 'FAHRENHEIT' }, lowerSetpoint: { value: 66, scale: 'FAHRENHEIT' }, upperSetpoint: { value: 74, scale: 'FAHRENHEIT' } | ThermostatController.targetSetpoint: { value: 70, scale: 'FAHRENHEIT' }, ThermostatController.lowerSetpoint: { value: 66, scale: 'FAHRENHEIT' }, ThermostatController.upperSetpoint: { value: 74, scale: 'FAHRENHEIT' }
        thermostat-office | ThermostatController.SetTargetTemperature | targetSetpoint: { value: 75, scale: 'FAHRENHEIT' }, lowerSetpoint: { value: 66, scale: 'FAHRENHEIT' }, upperSetpoint: { value: 74, scale: 'FAHRENHEIT' } | error: 'REQUESTED_SETPOINTS_TOO_CLOSE', minimumTemperatureDelta: { value: 4, scale: 'FAHRENHEIT' }
        thermostat-office | ThermostatController.SetTargetTemperature | lowerSetpoint: { value: 70, scale: 'FAHRENHEIT' }, upperSetpoint: { value: 73, scale: 'FAHRENHEIT' } | error: 'REQUESTED_SETPOINTS_TOO_CLOSE'
        thermostat-office | ThermostatController.SetTargetTemperature | targetSetpoint: { value: 77, scale: 'FAHRENHEIT' } | ThermostatController.targetSetpoint: { value: 77, scale: 'FAHRENHEIT' }, ThermostatController.lowerSetpoint: { value: 69, scale: 'FAHRENHEIT' }, ThermostatController.upperSetpoint: { value: 77, scale: 'FAHRENHEIT' }
        thermostat-office | ThermostatController.SetTargetTemperature | targetSetpoint: { value: 20, scale: 'CELSIUS' } | ThermostatController.targetSetpoint: { value: 68, scale: 'FAHRENHEIT' }, ThermostatController.lowerSetpoint: { value: 68, scale: 'FAHRENHEIT' }, ThermostatController.upperSetpoint: { value: 76, scale: 'FAHRENHEIT' }
        thermostat-office | ThermostatController.AdjustTargetTemperature | targetSetpointDelta: { value: 1, scale: 'CELSIUS' } | ThermostatController.targetSetpoint: { value: 69.8, scale: 'FAHRENHEIT' }
        thermostat-office | ThermostatController.SetTargetTemperature | targetSetpoint: { value: 33, scale: 'CELSIUS' } | error: 'TEMPERATURE_VALUE_OUT_OF_RANGE', validRange: { minimumValue: { value: 50, scale: 'FAHRENHEIT' }, maximumValue: { value: 90, scale: 'FAHRENHEIT' } }
        """#

    static let all = [single, modes, dual, triple]
}
