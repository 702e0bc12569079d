import JSON

/// Reads the devices file member by member and notes what is wrong.
struct DevicesReader {
    let users: Users
    private(set) var faults: [DeviceFault] = []
    private var endpointIDs: Set<String> = []

    init(users: Users) { self.users = users }

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

    private mutating func device(_ value: JSONValue, at path: String) -> Devices.Device? {
        guard var object = value.object else {
            note(path, "not an object")
            return nil
        }
        let owners = owners(of: object, at: path)
        let state = state(of: object, at: path)
        object["owners"] = nil
        object["state"] = nil
        do throws(DeviceFault) {
            let endpoint = try DeviceEndpoint(device: .object(object))
            if !endpointIDs.insert(endpoint.endpointID).inserted { note("\(path).id", "another device has it") }
            return Devices.Device(id: endpoint.deviceID, json: object, owners: owners, state: state)
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
        var owners: Set<String> = []
        for (index, value) in list.enumerated() {
            guard let subject = value.string else {
                note("\(path).owners[\(index)]", "not a text")
                continue
            }
            if users[subject] == nil { note("\(path).owners[\(index)]", "no user has this sub") }
            owners.insert(subject)
        }
        return owners
    }

    private mutating func state(of object: JSONObject, at path: String) -> [DeviceProperty] {
        guard let given = object["state"] else { return [] }
        guard let list = given.array else {
            note("\(path).state", "not a list")
            return []
        }
        var state: [DeviceProperty] = []
        for (index, value) in list.enumerated() {
            do throws(DeviceFault) { state.append(try DeviceProperty(decoding: value)) } catch {
                note(error.below("\(path).state[\(index)]"))
            }
        }
        return state
    }

    private mutating func note(_ path: String, _ problem: String) {
        note(DeviceFault(path: path, problem: problem))
    }

    private mutating func note(_ fault: DeviceFault) { faults.append(fault) }
}
