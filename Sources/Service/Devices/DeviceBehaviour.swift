import Alexa
import Crypto
import JSON

/// What a device of the embedded provider does that its description does not say: its limits, and how it fails.
///
/// The member `behaviour` of the devices file; other resource servers have real devices for that.
struct DeviceBehaviour: Sendable {
    /// False: the device has dropped off the network.
    var isReachable = true
    /// Commands are refused for want of power, where this is given.
    var lowBatteryPercent: Int64?
    /// Every command is refused in this way.
    var error: DeviceRefusal?
    /// Commands take this long, and are answered before they are carried out.
    var deferSeconds: Int64?
    /// The white tones that a lamp has, and how far one step goes.
    var colorTemperature = (minimum: 1000.0, maximum: 10_000.0, step: 500.0)
    /// The temperatures that a thermostat takes; nil for those that are usual in its scale.
    var setpoints: Setpoints?
    /// The code that disarms a panel.
    var pin: Secret?
    /// For how long the house may be left after a panel was armed.
    var exitDelaySeconds: Int64?
    /// What is open, and keeps a panel from being armed.
    var open: [JSONValue] = []
    /// The channels of a television; without them it takes any.
    var channels: [JSONObject] = []
    /// Where a camera's streams are, and its still picture.
    var streamURI: String?
    var imageURI: String?
    /// How long what is played is.
    var durationMilliseconds: Int64 = 3_600_000

    /// The temperatures that a thermostat takes.
    struct Setpoints: Sendable {
        var minimum: Double
        var maximum: Double
        /// How far apart the lower and the upper one must be.
        var minimumDelta: Double
        var scale: TemperatureScale

        /// What is usual.
        init(usualIn scale: TemperatureScale) {
            self.scale = scale
            switch scale {
            case .celsius: (minimum, maximum, minimumDelta) = (5, 35, 2)
            case .fahrenheit: (minimum, maximum, minimumDelta) = (40, 95, 3)
            case .kelvin: (minimum, maximum, minimumDelta) = (278.15, 308.15, 2)
            }
        }
    }
}

/// A scale of temperatures, as Alexa writes it.
enum TemperatureScale: String, Sendable {
    case celsius = "CELSIUS"
    case fahrenheit = "FAHRENHEIT"
    case kelvin = "KELVIN"

    /// How many degrees of this scale one of Celsius is.
    private var degree: Double { self == .fahrenheit ? 1.8 : 1 }
    /// Where water freezes.
    private var freezingPoint: Double {
        switch self {
        case .celsius: 0
        case .fahrenheit: 32
        case .kelvin: 273.15
        }
    }

    /// A temperature of this scale in another; exact to a hundredth, and untouched where the scales are the same.
    func convert(_ temperature: Double, to other: TemperatureScale) -> Double {
        if other == self { return temperature }
        return rounded((temperature - freezingPoint) / degree * other.degree + other.freezingPoint)
    }

    /// A difference of temperatures of this scale in another.
    func convert(difference: Double, to other: TemperatureScale) -> Double {
        other == self ? difference : rounded(difference / degree * other.degree)
    }

    private func rounded(_ number: Double) -> Double { (number * 100).rounded() / 100 }
}

extension DeviceBehaviour {
    private typealias Member = @Sendable (inout DeviceBehaviour, JSONValue) throws(DeviceFault) -> Void

    /// How each member of `behaviour` is read.
    private static let members: [String: Member] = [
        "reachable": { (it, value) throws(DeviceFault) in
            guard let flag = value.bool else { throw DeviceFault(path: "", problem: "neither true nor false") }
            it.isReachable = flag
        },
        "lowBatteryPercent": { (it, value) throws(DeviceFault) in
            it.lowBatteryPercent = try integer(value, 0...100)
        },
        "error": { (it, value) throws(DeviceFault) in it.error = try DeviceRefusal(decoding: value) },
        "deferSeconds": { (it, value) throws(DeviceFault) in it.deferSeconds = try integer(value, 1...3600) },
        "colorTemperature": { (it, value) throws(DeviceFault) in
            let range = try span(value, within: 1000...10_000)
            let step = try number("step", of: value, else: 500, within: 1...10_000)
            it.colorTemperature = (range.lowerBound, range.upperBound, step)
        },
        "setpoints": { (it, value) throws(DeviceFault) in
            guard let scale = value["scale"]?.string.flatMap(TemperatureScale.init(rawValue:)) else {
                throw DeviceFault(path: "scale", problem: "neither CELSIUS nor FAHRENHEIT nor KELVIN")
            }
            var setpoints = Setpoints(usualIn: scale)
            let range = try span(value, within: -100...1000)
            (setpoints.minimum, setpoints.maximum) = (range.lowerBound, range.upperBound)
            let span = range.upperBound - range.lowerBound
            setpoints.minimumDelta = try number(
                "minimumDelta", of: value, else: min(setpoints.minimumDelta, span), within: 0...span)
            it.setpoints = setpoints
        },
        "pin": { (it, value) throws(DeviceFault) in
            guard let text = value.string, text.utf8.count == 4, text.utf8.allSatisfy({ (48...57).contains($0) }) else {
                throw DeviceFault(path: "", problem: "not four digits in quotes")
            }
            it.pin = Secret(text)
        },
        "exitDelaySeconds": { (it, value) throws(DeviceFault) in it.exitDelaySeconds = try integer(value, 0...255) },
        "open": { (it, value) throws(DeviceFault) in
            guard let list = value.array, list.allSatisfy({ $0["friendlyName"]?.string?.isEmpty == false }) else {
                throw DeviceFault(path: "", problem: "not a list of objects with a friendlyName")
            }
            it.open = list
        },
        "channels": { (it, value) throws(DeviceFault) in
            let channels = (value.array ?? []).compactMap(\.object)
            guard let list = value.array, !list.isEmpty, channels.count == list.count,
                channels.allSatisfy({ !$0.channel.isEmpty })
            else {
                throw DeviceFault(path: "", problem: "not a list of objects with number, callSign or uri")
            }
            it.channels = channels
        },
        "streamURI": { (it, value) throws(DeviceFault) in it.streamURI = try address(value) },
        "imageURI": { (it, value) throws(DeviceFault) in it.imageURI = try address(value) },
        "durationMilliseconds": { (it, value) throws(DeviceFault) in
            it.durationMilliseconds = try integer(value, 0...86_400_000)
        },
    ]

    /// Reads the member; every fault goes to `note`.
    init(decoding value: JSONValue, note: (DeviceFault) -> Void) {
        guard let object = value.object else {
            note(DeviceFault(path: "", problem: "not an object"))
            return
        }
        for (name, value) in object {
            guard let member = Self.members[name] else {
                note(DeviceFault(path: name, problem: "unknown key"))
                continue
            }
            do throws(DeviceFault) { try member(&self, value) } catch { note(error.below(name)) }
        }
    }

    private static func integer(_ value: JSONValue, _ range: ClosedRange<Int64>) throws(DeviceFault) -> Int64 {
        guard let number = value.integer, range.contains(number) else {
            throw DeviceFault(
                path: "", problem: "not a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    private static func number(
        _ name: String, of value: JSONValue, else standard: Double? = nil, within range: ClosedRange<Double>
    ) throws(DeviceFault) -> Double {
        if value[name] == nil, let standard { return standard }
        guard let number = value[name]?.double, range.contains(number) else {
            throw DeviceFault(path: name, problem: "not a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    private static func span(
        _ value: JSONValue, within range: ClosedRange<Double>
    ) throws(DeviceFault) -> ClosedRange<Double> {
        let minimum = try number("minimum", of: value, within: range)
        return minimum...(try number("maximum", of: value, within: minimum...range.upperBound))
    }

    private static func address(_ value: JSONValue) throws(DeviceFault) -> String {
        guard let text = value.string, text.contains("://"), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { throw DeviceFault(path: "", problem: "not an address") }
        return text
    }
}

extension JSONObject {
    /// Of the members those that name a channel.
    var channel: JSONObject {
        var channel = JSONObject()
        for name in ["number", "callSign", "affiliateCallSign", "uri"] {
            if let text = self[name]?.string, !text.isEmpty { channel[name] = .string(text) }
        }
        return channel
    }
}
