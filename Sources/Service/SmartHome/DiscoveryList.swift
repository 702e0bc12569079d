import JSON

/// The endpoints of one discovery, as they are gathered page by page.
///
/// What Alexa would choke on is left out, so that one bad device costs no other its place: an endpoint that breaks a
/// rule, a second one of the same id, and what would make the answer too long.
struct DiscoveryList {
    /// What the answer needs besides the endpoints.
    private static let frameBytes = 1024

    private let limit: Int
    private let limitBytes: Int
    /// The endpoints as JSON, each followed by a comma.
    private var written: [UInt8] = []
    private var names: [String: String] = [:]

    private(set) var devices: [DeviceEndpoint] = []
    /// What was left out, and why.
    private(set) var omissions = Omissions()
    /// Whether there was one device more than Alexa takes.
    private(set) var isOverfull = false

    init(limit: Int, limitBytes: Int) {
        self.limit = limit
        self.limitBytes = limitBytes
    }

    /// Takes a device as the provider's server describes it.
    mutating func add(_ device: JSONElement) {
        let endpoint: DeviceEndpoint
        do throws(DeviceFault) { endpoint = try DeviceEndpoint(device: device.value) } catch {
            return omissions.add(error.path.isEmpty ? error.problem : error.path + ": " + error.problem, of: device)
        }
        if let first = names[endpoint.endpointID] {
            return omissions.add("the id is taken: \(first), \(endpoint.friendlyName)", of: device)
        }
        guard devices.count < limit else {
            isOverfull = true
            return
        }
        let json = JSONValue.object(endpoint.object).encoded()
        guard Self.frameBytes + written.count + json.count < limitBytes else {
            return omissions.add("the answer would be too long", of: device)
        }
        written += json
        written.append(UInt8(ascii: ","))
        names[endpoint.endpointID] = endpoint.friendlyName
        devices.append(endpoint)
    }

    /// The endpoints as a JSON array.
    var encoded: [UInt8] { [UInt8(ascii: "[")] + written.dropLast() + [UInt8(ascii: "]")] }

    /// Leaves out an endpoint that was taken before.
    mutating func remove(_ endpoint: DeviceEndpoint, because problem: String) {
        devices.removeAll { $0.endpointID == endpoint.endpointID }
        written = devices.flatMap { JSONValue.object($0.object).encoded() + [UInt8(ascii: ",")] }
        omissions.add(problem, name: endpoint.endpointID)
    }
}

/// What had to be left out of an answer: the first of it by name, the rest as a number.
struct Omissions {
    /// How many are told one by one.
    static let toldOneByOne = 20

    /// What each of the first is called, and what is wrong with it.
    private(set) var told: [(name: String, problem: String)] = []
    private(set) var count = 0

    var untold: Int { count - told.count }

    mutating func add(_ problem: String, name: String) {
        count += 1
        if told.count < Self.toldOneByOne { told.append((name, problem)) }
    }

    mutating func add(_ problem: String, of device: JSONElement) {
        add(problem, name: device.string("id") ?? "without an id")
    }
}
