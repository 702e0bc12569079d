import Alexa
import JSON

extension CommandTable {
    // MARK: Sound

    static let setVolume: CommandRule = { (run) throws(DeviceRefusal) in
        run["volume"] = JSONValue(plain: try run.whole("volume", within: percent))
    }

    static let adjustVolume: CommandRule = { (run) throws(DeviceRefusal) in
        let delta = try run.whole("volume")
        run["volume"] = JSONValue(plain: clamped((run["volume"]?.double ?? 0) + delta, to: percent))
    }

    static let setMute: CommandRule = { (run) throws(DeviceRefusal) in run["muted"] = .bool(try run.flag("mute")) }

    /// A speaker that knows louder and softer alone has no property to change.
    static let stepVolume: CommandRule = { (run) throws(DeviceRefusal) in _ = try run.whole("volumeSteps") }
    static let stepMute: CommandRule = { (run) throws(DeviceRefusal) in _ = try run.flag("mute") }

    // MARK: Television

    static let selectInput: CommandRule = { (run) throws(DeviceRefusal) in
        let wanted = squeezed(try run.text("input"))
        let inputs = (run.capability["inputs"]?.array ?? []).compactMap { $0["name"]?.string }
        guard let input = inputs.first(where: { squeezed($0) == wanted }) else {
            throw DeviceRefusal(.invalidValue, "The device has no such input")
        }
        run["input"] = .string(input)
        run.switchPower(on: true)
    }

    /// `HDMI 1` and `HDMI1` are one input.
    private static func squeezed(_ text: String) -> String { text.filter { $0 != " " }.uppercased() }

    static let changeChannel: CommandRule = { (run) throws(DeviceRefusal) in
        let wanted = run.command.arguments["channel"]?.object?.channel ?? [:]
        let name = run.command.arguments["channelMetadata"]?["name"]?.string
        guard !wanted.isEmpty || name != nil else { throw .malformed("No channel is named") }
        let channels = run.behaviour.channels
        guard !channels.isEmpty || wanted.isEmpty else {
            tune(to: wanted, &run)
            return
        }
        let found = channels.first { channel in
            wanted.contains { channel[$0.name] == $0.value } || (name != nil && channel["name"]?.string == name)
        }
        guard let found else { throw DeviceRefusal(.invalidValue, "The device has no such channel") }
        tune(to: found.channel, &run)
    }

    /// So many channels on or back, round and round.
    static let skipChannels: CommandRule = { (run) throws(DeviceRefusal) in
        let count = Int(try run.whole("channelCount"))
        let channels = run.behaviour.channels
        guard !channels.isEmpty else {
            let number = run["channel"]?["number"]?.string.flatMap(Int32.init) ?? 1
            tune(to: ["number": .string(String(max(1, Int(number) + count)))], &run)
            return
        }
        let place = channels.firstIndex { .object($0.channel) == run["channel"] } ?? 0
        let wrapped = (place + count) % channels.count
        tune(to: channels[wrapped < 0 ? wrapped + channels.count : wrapped].channel, &run)
    }

    private static func tune(to channel: JSONObject, _ run: inout CommandRun) {
        run["channel"] = .object(channel)
        run.switchPower(on: true)
    }

    static let launch: CommandRule = { (run) throws(DeviceRefusal) in
        let identifier = try run.text("identifier")
        let name = run.command.arguments["name"]?.string ?? identifier
        run["target"] = ["name": .string(name), "identifier": .string(identifier)]
        run.switchPower(on: true)
    }

    // MARK: What is played

    private static let playbackState = PropertyKey(interface: "PlaybackStateReporter", name: "playbackState")

    static func playback(_ state: String, from position: Int64? = nil, by delta: Int64 = 0) -> CommandRule {
        { (run) throws(DeviceRefusal) in
            if let operations = run.capability["supportedOperations"]?.array,
                !operations.contains(.string(run.command.name))
            {
                throw .malformed("The device has no such operation")
            }
            if let position { run.state.memory[.position] = .integer(position) }
            _ = move(by: Double(delta), &run)
            if run[playbackState] != nil { run[playbackState] = ["state": .string(state)] }
        }
    }

    static let seek: CommandRule = { (run) throws(DeviceRefusal) in
        let position = move(by: try run.whole("deltaPositionMilliseconds"), &run)
        run.payload = ["properties": [["name": "positionMilliseconds", "value": position]]]
    }

    private static func move(by delta: Double, _ run: inout CommandRun) -> JSONValue {
        let range = 0...Double(run.behaviour.durationMilliseconds)
        let position = JSONValue(plain: clamped((run.state.memory[.position]?.double ?? 0) + delta, to: range))
        run.state.memory[.position] = position
        return position
    }

    // MARK: Equalizer

    static let setBands = bands { (band, _, range) throws(DeviceRefusal) in
        guard let level = band["level"]?.double, level == level.rounded() else {
            throw .malformed("level is not a whole number")
        }
        guard range.contains(level) else { throw .outOfRange("level", range) }
        return level
    }

    static let adjustBands = bands { (band, level, range) throws(DeviceRefusal) in
        let delta = band["levelDelta"]?.double ?? 1
        guard delta == delta.rounded() else { throw .malformed("levelDelta is not a whole number") }
        return clamped(level + (band["levelDirection"]?.string == "DOWN" ? -delta : delta), to: range)
    }

    static let resetBands = bands(orAll: true) { (_, _, range) throws(DeviceRefusal) in clamped(0, to: range) }

    static let setSoundMode: CommandRule = { (run) throws(DeviceRefusal) in
        let mode = try run.text("mode")
        let modes = run.capability["configurations"]?["modes"]?["supported"]?.array ?? []
        guard modes.contains(where: { $0["name"]?.string == mode }) else {
            throw DeviceRefusal(.invalidValue, "The equalizer has no such mode")
        }
        run["mode"] = .string(mode)
    }

    private typealias NewLevel =
        @Sendable (_ band: JSONObject, _ level: Double, _ range: ClosedRange<Double>)
        throws(DeviceRefusal) -> Double

    /// A command that gives each of the named bands a new level.
    ///
    /// Without names it is for all bands where `orAll` says so.
    private static func bands(orAll: Bool = false, _ newLevel: @escaping NewLevel) -> CommandRule {
        { (run) throws(DeviceRefusal) in
            let configuration = run.capability["configurations"]?["bands"]
            let supported = (configuration?["supported"]?.array ?? []).compactMap { $0["name"]?.string }
            let minimum = configuration?["range"]?["minimum"]?.double ?? -10
            let range = minimum...max(minimum, configuration?["range"]?["maximum"]?.double ?? 10)
            var levels = run["bands"]?.array ?? []
            let isForAll = orAll && (run.command.arguments.given("bands")?.array ?? []).isEmpty
            let named = isForAll ? supported.map { ["name": .string($0)] } : try run.objects("bands")
            for band in named {
                guard let name = band["name"]?.string else { throw .malformed("name is not a text") }
                guard supported.contains(name) else {
                    throw DeviceRefusal(.invalidValue, "The equalizer has no such band")
                }
                let place = levels.firstIndex { $0["name"]?.string == name }
                let old = place.flatMap { levels[$0]["value"]?.double } ?? 0
                let level: JSONValue = [
                    "name": .string(name), "value": JSONValue(plain: try newLevel(band, old, range)),
                ]
                if let place { levels[place] = level } else { levels.append(level) }
            }
            run["bands"] = .array(levels)
        }
    }
}
