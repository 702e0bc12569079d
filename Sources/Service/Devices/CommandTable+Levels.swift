import Alexa
import JSON

extension CommandTable {
    static let percent = 0.0...100.0

    /// A command that sets a property to one value.
    static func set(_ property: String, to value: JSONValue) -> CommandRule {
        { (run) throws(DeviceRefusal) in run[property] = value }
    }

    static func turn(on: Bool) -> CommandRule {
        { (run) throws(DeviceRefusal) in
            run["powerState"] = on ? "ON" : "OFF"
            guard on else { return }
            // A lamp that was dimmed to nothing shines as it did before.
            for (key, value) in run.state.values where levelNames.contains(key.name) && value.double == 0 {
                run[key] = run.state.memory[.litLevel(key)] ?? 100
            }
        }
    }

    // MARK: Levels from 0 to 100

    private static let levelNames: Set<String> = ["brightness", "percentage", "powerLevel"]

    static func levels(_ property: String, set: String, adjust: String) -> [String: CommandRule] {
        [
            set: { (run) throws(DeviceRefusal) in take(try run.whole(property, within: percent), property, &run) },
            adjust: { (run) throws(DeviceRefusal) in
                let delta = try run.whole(property + "Delta")
                // What is off has level 0, whatever it remembers: dimming it changes nothing, brightening switches it on.
                if run.isOff, delta <= 0 { return }
                let level = run.isOff ? 0 : run[property]?.double ?? 0
                take(clamped(level + delta, to: percent), property, &run)
            },
        ]
    }

    private static func take(_ level: Double, _ property: String, _ run: inout CommandRun) {
        run[property] = JSONValue(plain: level)
        if level > 0 { run.state.memory[.litLevel(run.key(property))] = JSONValue(plain: level) }
        run.switchPower(on: level > 0)
    }

    // MARK: Ranges

    static let setRangeValue: CommandRule = { (run) throws(DeviceRefusal) in
        let range = supportedRange(of: run.capability)
        run["rangeValue"] = range.nearest(try run.number("rangeValue", within: range.bounds))
    }

    static let adjustRangeValue: CommandRule = { (run) throws(DeviceRefusal) in
        let range = supportedRange(of: run.capability)
        let value = (run["rangeValue"]?.double ?? range.bounds.lowerBound) + (try run.number("rangeValueDelta"))
        run["rangeValue"] = range.nearest(clamped(value, to: range.bounds))
    }

    struct SupportedRange {
        let bounds: ClosedRange<Double>
        let precision: Double

        /// The nearest value that the device can have.
        func nearest(_ value: Double) -> JSONValue {
            guard precision > 0 else { return JSONValue(plain: value) }
            let steps = ((value - bounds.lowerBound) / precision).rounded()
            // Without the rounding a tenth, three times over, is a little more than 0.3.
            let near = ((bounds.lowerBound + steps * precision) * 1_000_000).rounded() / 1_000_000
            return JSONValue(plain: clamped(near, to: bounds))
        }
    }

    static func supportedRange(of capability: JSONObject) -> SupportedRange {
        let range = capability["configuration"]?["supportedRange"]
        let minimum = range?["minimumValue"]?.double ?? 0
        let maximum = range?["maximumValue"]?.double ?? 100
        return SupportedRange(bounds: minimum...max(minimum, maximum), precision: range?["precision"]?.double ?? 0)
    }

    // MARK: Modes

    static func supportedModes(of capability: JSONObject) -> [String] {
        (capability["configuration"]?["supportedModes"]?.array ?? []).compactMap { $0["value"]?.string ?? $0.string }
    }

    static let setMode: CommandRule = { (run) throws(DeviceRefusal) in
        let mode = try run.text("mode")
        guard supportedModes(of: run.capability).contains(mode) else {
            throw DeviceRefusal(.invalidValue, "The device has no such mode")
        }
        run["mode"] = .string(mode)
    }

    static let adjustMode: CommandRule = { (run) throws(DeviceRefusal) in
        let delta = Int(try run.whole("modeDelta"))
        guard run.capability["configuration"]?["ordered"]?.bool == true else {
            throw .malformed("The modes have no order")
        }
        let modes = supportedModes(of: run.capability)
        let place = (run["mode"]?.string.flatMap(modes.firstIndex) ?? 0) + delta
        guard modes.indices.contains(place) else {
            throw DeviceRefusal(.valueOutOfRange, "There is no mode so far along")
        }
        run["mode"] = .string(modes[place])
    }

    // MARK: Light

    static let setColor: CommandRule = { (run) throws(DeviceRefusal) in
        guard let given = run.command.arguments["color"]?.object else { throw .malformed("color is not an object") }
        var color = JSONObject()
        for (name, range) in [("hue", 0.0...360), ("saturation", 0...1), ("brightness", 0...1)] {
            guard let number = given[name]?.double else { throw .malformed("\(name) is not a number") }
            guard range.contains(number) else { throw .outOfRange(name, range) }
            color[name] = given[name]
        }
        run["color"] = .object(color)
        run.state.memory[.showsColor] = true
        run.switchPower(on: true)
    }

    static let setColorTemperature: CommandRule = { (run) throws(DeviceRefusal) in
        let name = "colorTemperatureInKelvin"
        showWhite(try run.whole(name, within: whites(of: run)), &run)
    }

    /// One step warmer or colder; the scale ends where it ends.
    static func stepColorTemperature(_ direction: Double) -> CommandRule {
        { (run) throws(DeviceRefusal) in
            guard run.state.memory[.showsColor] != true else {
                throw DeviceRefusal(
                    .notSupportedInCurrentMode, "The lamp shows a colour", ["currentDeviceMode": "COLOR"])
            }
            let kelvin = run["colorTemperatureInKelvin"]?.double ?? whites(of: run).lowerBound
            let step = run.behaviour.colorTemperature.step
            showWhite(clamped(kelvin + direction * step, to: whites(of: run)), &run)
        }
    }

    private static func whites(of run: CommandRun) -> ClosedRange<Double> {
        run.behaviour.colorTemperature.minimum...run.behaviour.colorTemperature.maximum
    }

    private static func showWhite(_ kelvin: Double, _ run: inout CommandRun) {
        run["colorTemperatureInKelvin"] = JSONValue(plain: kelvin)
        run.state.memory[.showsColor] = nil
        run.switchPower(on: true)
    }
}
