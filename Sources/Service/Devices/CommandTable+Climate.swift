import Alexa
import JSON

extension CommandTable {
    static let setTargetTemperature: CommandRule = { (run) throws(DeviceRefusal) in
        var setpoints = try ThermostatSetpoints(of: run)
        if run.command.arguments.given("schedule") != nil, !hasSchedule(run.capability) {
            throw DeviceRefusal(.unwillingToSetSchedule, "The thermostat keeps no schedule")
        }
        try setpoints.take(
            target: run.temperature("targetSetpoint", in: setpoints.limits.scale),
            lower: run.temperature("lowerSetpoint", in: setpoints.limits.scale),
            upper: run.temperature("upperSetpoint", in: setpoints.limits.scale))
        setpoints.write(to: &run)
    }

    static let adjustTargetTemperature: CommandRule = { (run) throws(DeviceRefusal) in
        var setpoints = try ThermostatSetpoints(of: run)
        guard let delta = run.command.arguments["targetSetpointDelta"], let degrees = delta["value"]?.double,
            let scale = delta["scale"]?.string.flatMap(TemperatureScale.init(rawValue:))
        else { throw .malformed("targetSetpointDelta is not a temperature") }
        setpoints.shift(by: scale.convert(difference: degrees, to: setpoints.limits.scale))
        setpoints.write(to: &run)
    }

    static let setThermostatMode: CommandRule = { (run) throws(DeviceRefusal) in
        guard let mode = run.command.arguments["thermostatMode"]?["value"]?.string else {
            throw .malformed("thermostatMode is not an object with a value")
        }
        guard supportedModes(of: run.capability).contains(mode) else {
            throw DeviceRefusal(.unsupportedThermostatMode, "The thermostat has no such mode")
        }
        run["thermostatMode"] = .string(mode)
        run.switchPower(on: mode != "OFF")
    }

    /// Back to the setpoints that the device had when the process started.
    static let resumeSchedule: CommandRule = { (run) throws(DeviceRefusal) in
        guard hasSchedule(run.capability) else {
            throw DeviceRefusal(.unwillingToSetSchedule, "The thermostat keeps no schedule")
        }
        for property in run.device.state where property.key.interface == "ThermostatController" {
            run[property.key] = property.value
        }
    }

    private static func hasSchedule(_ capability: JSONObject) -> Bool {
        capability["configuration"]?["supportsScheduling"]?.bool == true
    }
}

extension CommandRun {
    /// An argument that may be left out, as a temperature of `scale`.
    fileprivate func temperature(_ name: String, in scale: TemperatureScale) throws(DeviceRefusal) -> Double? {
        guard let given = command.arguments.given(name) else { return nil }
        guard let degrees = given["value"]?.double,
            let from = given["scale"]?.string.flatMap(TemperatureScale.init(rawValue:))
        else { throw .malformed("\(name) is not a temperature") }
        return from.convert(degrees, to: scale)
    }
}

/// The setpoints of a thermostat: one, two for a span that it keeps, or three.
struct ThermostatSetpoints {
    var target: Double?
    var lower: Double?
    var upper: Double?
    let mode: String
    let limits: DeviceBehaviour.Setpoints

    private static let names = ["targetSetpoint", "lowerSetpoint", "upperSetpoint"]

    /// Reads what the thermostat has now.
    ///
    /// - Throws: `THERMOSTAT_IS_OFF` where it is.
    init(of run: CommandRun) throws(DeviceRefusal) {
        mode = run["thermostatMode"]?.string ?? "AUTO"
        if mode == "OFF" || run.isOff { throw DeviceRefusal(.thermostatIsOff, "The thermostat is off") }
        let scale = Self.names.lazy.compactMap { run[$0]?["scale"]?.string }.first
        limits =
            run.behaviour.setpoints
            ?? DeviceBehaviour.Setpoints(usualIn: scale.flatMap(TemperatureScale.init(rawValue:)) ?? .celsius)
        target = run["targetSetpoint"]?["value"]?.double
        lower = run["lowerSetpoint"]?["value"]?.double
        upper = run["upperSetpoint"]?["value"]?.double
    }

    var bounds: ClosedRange<Double> { limits.minimum...limits.maximum }

    /// Whether the thermostat keeps a span now, rather than heats or cools to one temperature.
    private var keepsSpan: Bool { mode != "HEAT" && mode != "COOL" }

    /// Sets what is given, where the thermostat has it and can go there.
    mutating func take(target: Double?, lower: Double?, upper: Double?) throws(DeviceRefusal) {
        guard target != nil || lower != nil || upper != nil else { throw .malformed("No setpoint is given") }
        try judge(target: target, lower: lower, upper: upper)
        for setpoint in [target, lower, upper] {
            if let setpoint, !bounds.contains(setpoint) { throw outOfRange }
        }
        var new = self
        if let lower { new.lower = lower }
        if let upper { new.upper = upper }
        if let target, lower == nil, upper == nil { new.aim(at: target) } else if let target { new.target = target }
        // Who heats or cools to one temperature does not care how near the other setpoint is.
        if keepsSpan, let lower = new.lower, let upper = new.upper, upper - lower < limits.minimumDelta {
            throw tooClose
        }
        if target == nil, let kept = new.target, let lower = new.lower, let upper = new.upper {
            new.target = clamped(kept, to: lower...upper)
        }
        if !new.targetIsBetween { throw tooClose }
        self = new
    }

    /// Whether the thermostat takes that many setpoints now.
    private func judge(target: Double?, lower: Double?, upper: Double?) throws(DeviceRefusal) {
        let givesSpan = lower != nil || upper != nil
        let hasSpan = self.lower != nil && self.upper != nil
        if target != nil, givesSpan, !(hasSpan && self.target != nil) {
            throw DeviceRefusal(.tripleSetpointsUnsupported, "The thermostat takes no three setpoints")
        }
        if givesSpan, !(hasSpan && keepsSpan) {
            throw DeviceRefusal(.dualSetpointsUnsupported, "The thermostat takes no two setpoints now")
        }
    }

    private var targetIsBetween: Bool {
        guard let target, let lower, let upper else { return true }
        return lower <= target && target <= upper
    }

    /// Moves to one temperature: a span moves as a whole, so that the temperature is within or, where the thermostat has
    /// no other setpoint, in its middle.
    private mutating func aim(at temperature: Double) {
        if target != nil {
            target = temperature
            guard !targetIsBetween, let lower, let upper else { return }
            move(by: temperature < lower ? temperature - lower : temperature - upper)
        } else if mode == "HEAT" {
            lower = temperature
            upper = max(upper ?? temperature, min(temperature + limits.minimumDelta, limits.maximum))
        } else if mode == "COOL" {
            upper = temperature
            lower = min(lower ?? temperature, max(temperature - limits.minimumDelta, limits.minimum))
        } else if let lower, let upper {
            // Heating alone may have left the two nearer than a span may be.
            let half = max(upper - lower, limits.minimumDelta) / 2
            (self.lower, self.upper) = (temperature - half, temperature + half)
            move(by: 0)
        }
    }

    /// Shifts what the thermostat aims at, as far as it goes.
    mutating func shift(by degrees: Double) {
        if let target {
            aim(at: clamped(target + degrees, to: bounds))
        } else if mode == "HEAT", let lower {
            aim(at: clamped(lower + degrees, to: bounds))
        } else if mode == "COOL", let upper {
            aim(at: clamped(upper + degrees, to: bounds))
        } else {
            move(by: degrees)
        }
    }

    /// Moves the span as a whole, as far as it goes; from where it cannot be, back to where it can.
    private mutating func move(by degrees: Double) {
        guard let lower, let upper else { return }
        let degrees = min(max(degrees, limits.minimum - lower), limits.maximum - upper)
        (self.lower, self.upper) = (lower + degrees, upper + degrees)
    }

    /// Writes what the thermostat has, in its scale.
    func write(to run: inout CommandRun) {
        for (name, value) in zip(Self.names, [target, lower, upper]) {
            guard let value, run[name] != nil else { continue }
            run[name] = temperature(value)
        }
    }

    private func temperature(_ value: Double) -> JSONValue {
        // Sums of tenths are not quite tenths.
        ["value": JSONValue(plain: (value * 1000).rounded() / 1000), "scale": .string(limits.scale.rawValue)]
    }

    private var outOfRange: DeviceRefusal {
        DeviceRefusal(
            .temperatureValueOutOfRange, "The temperature is out of range",
            [
                "validRange": [
                    "minimumValue": temperature(limits.minimum), "maximumValue": temperature(limits.maximum),
                ]
            ])
    }

    private var tooClose: DeviceRefusal {
        DeviceRefusal(
            .requestedSetpointsTooClose, "The setpoints are too close",
            ["minimumTemperatureDelta": temperature(limits.minimumDelta)])
    }
}
