import Alexa
import JSON

/// Reads the devices file member by member and notes what is wrong.
struct DevicesReader {
    /// nil where they cannot be read, so that owners cannot be judged.
    let users: Users?
    let development: Bool
    private(set) var faults: [DeviceFault] = []
    private var endpointIDs: Set<String> = []

    init(users: Users?, development: Bool) {
        self.users = users
        self.development = development
    }

    mutating func devices(_ value: JSONValue) -> [Devices.Device] {
        guard let object = value.object else {
            note("", "not an object")
            return []
        }
        for name in object.names where name != "devices" { note(name, "unknown key") }
        guard let list = object["devices"]?.array else {
            note("devices", object["devices"] == nil ? "missing" : "not a list")
            return []
        }
        return list.enumerated().compactMap { index, device in self.device(device, at: "devices[\(index)]") }
    }

    private static let ownMembers: Set<String> = ["owners", "state", "behaviour"]
    private static let members: Set<String> = [
        "id", "name", "description", "manufacturer", "model", "categories", "capabilities", "cookie",
        "additionalAttributes", "connections", "relationships", "registration",
    ]

    private mutating func device(_ value: JSONValue, at path: String) -> Devices.Device? {
        guard let object = value.object else {
            note(path, "not an object")
            return nil
        }
        var json = JSONObject()
        for (name, value) in object where !Self.ownMembers.contains(name) {
            if !Self.members.contains(name) { note("\(path).\(name)", "unknown key") }
            json[name] = value
        }
        let owners = owners(of: object, at: path)
        var behaviour = DeviceBehaviour()
        if let given = object["behaviour"] {
            behaviour = DeviceBehaviour(decoding: given) { note($0.below("\(path).behaviour")) }
            if !development, behaviour.pin != nil {
                note("\(path).behaviour.pin", "a code in clear is taken in development alone")
            }
        }
        let capabilities = (json["capabilities"]?.array ?? []).compactMap(\.object)
        let state = state(of: object, at: path, capabilities, behaviour)
        do throws(DeviceFault) {
            let endpoint = try DeviceEndpoint(device: .object(json))
            if !endpointIDs.insert(endpoint.endpointID).inserted { note("\(path).id", "another device has it") }
            return Devices.Device(
                id: endpoint.deviceID, json: json, owners: owners, state: state,
                reported: capabilities.filter { $0["retrievable"]?.bool == true }.flatMap(\.propertyKeys),
                behaviour: behaviour)
        } catch {
            note(error.below(path))
            return nil
        }
    }

    private mutating func owners(of object: JSONObject, at path: String) -> Set<String> {
        guard let list = object["owners"]?.array else {
            note("\(path).owners", object["owners"] == nil ? "missing" : "not a list")
            return []
        }
        if list.isEmpty { note("\(path).owners", "empty: nobody would see the device") }
        var owners: Set<String> = []
        for (index, value) in list.enumerated() {
            guard let subject = value.string else {
                note("\(path).owners[\(index)]", "not a text")
                continue
            }
            if let users, users[subject] == nil { note("\(path).owners[\(index)]", "no user has this sub") }
            if !owners.insert(subject).inserted { note("\(path).owners[\(index)]", "stands here twice") }
        }
        return owners
    }

    /// Properties that a device need not have at the start.
    private static let laterProperties: Set<PropertyKey> = [
        Devices.connectivity, .init(interface: "TimeHoldController", name: "holdStartTime"),
        .init(interface: "TimeHoldController", name: "holdEndTime"),
    ]

    private mutating func state(
        of object: JSONObject, at path: String, _ capabilities: [JSONObject], _ behaviour: DeviceBehaviour
    ) -> [DeviceProperty] {
        let path = "\(path).state"
        guard let list = (object["state"] ?? []).array else {
            note(path, "not a list")
            return []
        }
        var known: [PropertyKey: JSONObject] = [:]
        for capability in capabilities {
            for key in capability.propertyKeys { known[key] = capability }
        }
        var missing = Set(known.keys).subtracting(Self.laterProperties)
        var state: [DeviceProperty] = []
        for (index, value) in list.enumerated() {
            do throws(DeviceFault) {
                let property = try DeviceProperty(decoding: value)
                try Self.judge(property, of: known[property.key], behaviour)
                if state.contains(where: { $0.key == property.key }) {
                    throw DeviceFault(path: "name", problem: "the property stands here twice")
                }
                missing.remove(property.key)
                state.append(property)
            } catch {
                note(error.below("\(path)[\(index)]"))
                if let key = (try? DeviceProperty(decoding: value))?.key { missing.remove(key) }
            }
        }
        for key in known.keys.filter(missing.contains).map(\.description).sorted() {
            note(path, "\(key) is missing: the capability names it")
        }
        return state
    }

    /// Whether a property fits the capability that names it.
    private static func judge(
        _ property: DeviceProperty, of capability: JSONObject?, _ behaviour: DeviceBehaviour
    ) throws(DeviceFault) {
        guard property.key != Devices.connectivity else {
            throw DeviceFault(path: "name", problem: "follows from behaviour.reachable: leave it out")
        }
        guard let capability else { throw DeviceFault(path: "name", problem: "no capability names this property") }
        let rule = AlexaInterface.named(property.key.namespace)?.property(property.key.name)
        if let fault = rule?.value.fault(in: property.value) { throw DeviceFault(fault).below("value") }
        switch property.key.interface {
        case "RangeController":
            guard let value = property.value.double,
                CommandTable.supportedRange(of: capability).bounds.contains(value)
            else { throw DeviceFault(path: "value", problem: "not a number within supportedRange") }
        case "ModeController"
        where property.value.string.map(CommandTable.supportedModes(of: capability).contains) != true:
            throw DeviceFault(path: "value", problem: "not one of supportedModes")
        case "ThermostatController" where property.key.name != "thermostatMode":
            try judge(setpoint: property.value, behaviour.setpoints)
        default: break
        }
    }

    private static func judge(
        setpoint: JSONValue, _ given: DeviceBehaviour.Setpoints?
    ) throws(DeviceFault) {
        guard let degrees = setpoint["value"]?.double,
            let scale = setpoint["scale"]?.string.flatMap(TemperatureScale.init(rawValue:))
        else { throw DeviceFault(path: "value", problem: "not a temperature") }
        let limits = given ?? DeviceBehaviour.Setpoints(usualIn: scale)
        guard scale == limits.scale, (limits.minimum...limits.maximum).contains(degrees) else {
            throw DeviceFault(path: "value", problem: "not within behaviour.setpoints, in their scale")
        }
    }

    private mutating func note(_ path: String, _ problem: String) {
        note(DeviceFault(path: path, problem: problem))
    }

    private mutating func note(_ fault: DeviceFault) { faults.append(fault) }
}

extension JSONObject {
    /// The properties that a capability, as resource servers describe it, names.
    fileprivate var propertyKeys: [PropertyKey] {
        guard let interface = self["interface"]?.string else { return [] }
        return (self["properties"]?.array ?? []).compactMap(\.string).map {
            PropertyKey(interface: interface, instance: given("instance")?.string, name: $0)
        }
    }
}

extension PropertyKey {
    /// The property in words, for a list of faults.
    fileprivate var description: String { [interface, instance, name].compactMap(\.self).joined(separator: ".") }
}
