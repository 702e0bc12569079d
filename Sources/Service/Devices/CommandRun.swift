import Alexa
import JSON
import Time

/// What a device is told: the body of `POST /v1/devices/{id}/commands`.
struct DeviceCommand: Hashable, Sendable {
    let interface: String
    let name: String
    let instance: String?
    let arguments: JSONObject

    /// Reads a body.
    init(decoding body: [UInt8]) throws(DeviceRefusal) {
        guard let document = try? JSONDocument(parsing: body) else { throw .malformed("The body is no JSON") }
        let root = document.root
        guard root.kind == .object else { throw .malformed("The body is not an object") }
        if root.repeatedMember != nil { throw .malformed("A member stands twice") }
        guard let interface = root.string("interface") else { throw .malformed("interface is not a text") }
        guard let name = root.string("command") else { throw .malformed("command is not a text") }
        if let instance = root.member("instance"), !instance.isNull, instance.string == nil {
            throw .malformed("instance is not a text")
        }
        let given = root.member("arguments")?.value ?? .null
        guard let arguments = given.isNull ? [:] : given.object else { throw .malformed("arguments are not an object") }
        self.interface = interface
        self.name = name
        self.instance = root.string("instance")
        self.arguments = arguments
    }
}

/// What is known of a device now.
struct DeviceState: Sendable {
    /// Its properties.
    var values: [PropertyKey: JSONValue]
    /// What it remembers besides.
    var memory: [Memory: JSONValue] = [:]

    enum Memory: Hashable, Sendable {
        /// The level that a lamp had when it was last lit.
        case litLevel(PropertyKey)
        /// Whether a lamp shows a colour rather than a tone of white.
        case showsColor
        /// How many milliseconds have been played.
        case position
        /// How many wrong codes a panel was given one after another, and when the last was.
        case wrongCodes, lastWrongCode
    }
}

/// A command while a device carries it out.
struct CommandRun {
    let device: Devices.Device
    /// The capability that the command is for, as the file describes it.
    let capability: JSONObject
    let command: DeviceCommand
    let now: UnixTime
    var state: DeviceState
    /// The properties that the command set, in that order.
    private(set) var touched: [PropertyKey] = []
    /// What the answer carries besides properties.
    var payload: JSONObject?

    init(device: Devices.Device, capability: JSONObject, command: DeviceCommand, now: UnixTime, state: DeviceState) {
        self.device = device
        self.capability = capability
        self.command = command
        self.now = now
        self.state = state
    }

    var behaviour: DeviceBehaviour { device.behaviour }

    /// A property of the interface that the command is for.
    subscript(name: String) -> JSONValue? {
        get { state.values[key(name)] }
        set { self[key(name)] = newValue }
    }

    /// Any property of the device.
    subscript(key: PropertyKey) -> JSONValue? {
        get { state.values[key] }
        set {
            state.values[key] = newValue
            if !touched.contains(key) { touched.append(key) }
        }
    }

    func key(_ name: String) -> PropertyKey {
        PropertyKey(interface: command.interface, instance: command.instance, name: name)
    }
}

// MARK: Arguments

extension CommandRun {
    /// An argument that has to be there and be a number.
    func number(_ name: String) throws(DeviceRefusal) -> Double {
        guard let number = command.arguments[name]?.double else { throw .malformed("\(name) is not a number") }
        return number
    }

    /// An argument that has to be there and be a number within `range`.
    func number(_ name: String, within range: ClosedRange<Double>) throws(DeviceRefusal) -> Double {
        let number = try number(name)
        guard range.contains(number) else { throw .outOfRange(name, range) }
        return number
    }

    /// An argument that has to be there and be a whole number, written with or without a fraction.
    func whole(
        _ name: String, within range: ClosedRange<Double> = -1_000_000_000...1_000_000_000
    ) throws(DeviceRefusal) -> Double {
        let number = try number(name, within: range)
        guard number == number.rounded() else { throw DeviceRefusal(.invalidValue, "\(name) is not a whole number") }
        return number
    }

    /// An argument that has to be there and be a text.
    func text(_ name: String) throws(DeviceRefusal) -> String {
        guard let text = command.arguments[name]?.string else { throw .malformed("\(name) is not a text") }
        return text
    }

    /// An argument that has to be there and be a truth value.
    func flag(_ name: String) throws(DeviceRefusal) -> Bool {
        guard let flag = command.arguments[name]?.bool else { throw .malformed("\(name) is neither true nor false") }
        return flag
    }

    /// An argument that has to be there and be a list of objects.
    func objects(_ name: String) throws(DeviceRefusal) -> [JSONObject] {
        let list = command.arguments[name]?.array ?? []
        let objects = list.compactMap(\.object)
        guard !objects.isEmpty, objects.count == list.count else {
            throw .malformed("\(name) is not a list of objects")
        }
        return objects
    }
}

// MARK: Power

extension CommandRun {
    private static let power = PropertyKey(interface: "PowerController", name: "powerState")

    /// Whether the device has a switch, and is switched off.
    var isOff: Bool { state.values[Self.power] == "OFF" }

    /// Switches the device, where it has a switch.
    mutating func switchPower(on: Bool) {
        guard state.values[Self.power] != nil else { return }
        self[Self.power] = on ? "ON" : "OFF"
    }
}

/// The nearest number within the range.
func clamped(_ number: Double, to range: ClosedRange<Double>) -> Double {
    min(max(number, range.lowerBound), range.upperBound)
}
