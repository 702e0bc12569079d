import Alexa
public import JSON

/// The devices of the embedded provider, read from the file that `provider.embedded.devices` names.
public struct Devices: Sendable {
    /// One device.
    public struct Device: Sendable {
        /// The device's id.
        public let id: String
        /// What the resource server says of it in its list.
        public let json: JSONObject
        /// The users that see it, by their `sub`.
        public let owners: Set<String>
        /// Its properties when the process starts.
        public let state: [DeviceProperty]
        /// The properties that it tells of when asked, in the order of its capabilities.
        let reported: [PropertyKey]
        /// What it does besides.
        let behaviour: DeviceBehaviour
    }

    /// Everything that is wrong with the file.
    public struct Faults: Error, Hashable, Sendable {
        /// The faults, in the order of the file.
        public let faults: [DeviceFault]
    }

    /// Whether a device can be reached: never written in the file's `state`, since it follows from `behaviour`.
    static let connectivity = PropertyKey(interface: "EndpointHealth", name: "connectivity")

    /// The devices, in the order of the file.
    public let all: [Device]

    /// Reads the file; every owner has to be one of `users`, where they are known.
    ///
    /// - Parameters:
    ///   - bytes: the file.
    ///   - users: who can own a device; nil where that file cannot be read.
    ///   - development: whether codes of panels may stand there in clear, as passwords of users may.
    /// - Throws: ``Faults``, all of them at once.
    public init(json5 bytes: [UInt8], users: Users?, development: Bool = true) throws(Faults) {
        let value: JSONValue
        do { value = try JSONValue(json5: bytes) } catch {
            throw Faults(faults: [DeviceFault(path: "", problem: error.reason)])
        }
        var reader = DevicesReader(users: users, development: development)
        let devices = reader.devices(value)
        guard reader.faults.isEmpty else { throw Faults(faults: reader.faults) }
        all = devices
    }
}
