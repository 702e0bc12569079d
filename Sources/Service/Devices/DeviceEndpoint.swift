public import Alexa
public import JSON

/// A device, as resource servers describe it, made into what Alexa's discovery calls an endpoint.
public struct DeviceEndpoint: Hashable, Sendable {
    /// The device's own id.
    public let deviceID: String
    /// What Alexa is told to call it.
    public let endpointID: String
    /// The digest that has to be kept with the device's id, so that `endpointID` leads back to it; nearly always nil.
    public let keptDigest: String?
    /// The endpoint object of `Discover.Response` and `AddOrUpdateReport`.
    public let object: JSONObject
    /// The properties of which the device says that their changes are reported.
    public let reportedProperties: Set<PropertyKey>

    /// The name that is shown and spoken.
    public var friendlyName: String { object["friendlyName"]?.string ?? "" }

    /// Makes the endpoint.
    ///
    /// Texts that Alexa wants and the device lacks are filled in, those that are too long are cut.
    ///
    /// - Throws: ``DeviceFault``, which names the member of `device` or, where the outcome breaks a rule of discovery,
    ///   the member of the endpoint.
    public init(device: JSONValue) throws(DeviceFault) {
        guard let device = device.object else { throw DeviceFault(path: "", problem: "not an object") }
        guard let id = device["id"]?.string else { throw device.fault("id", "not a text") }
        guard !id.isEmpty else { throw DeviceFault(path: "id", problem: "empty") }
        let capabilities = try Self.capabilities(of: device)
        deviceID = id
        endpointID = EndpointID.encode(id)
        keptDigest = EndpointID.keptDigest(of: id)
        let (model, maker) = (EndpointText(try device.text("model")), EndpointText(try device.text("manufacturer")))
        let name = EndpointText(try device.text("name")) ?? model ?? .device
        let description = EndpointText(try device.text("description"))
        var object: JSONObject = [
            "endpointId": .string(endpointID), "friendlyName": .string(name.text),
            "manufacturerName": .string((maker ?? .maker).text),
            "description": .string((description ?? name).text),
            "displayCategories": try Self.categories(of: device),
            "capabilities": .array(capabilities.map { .object($0.object) }),
        ]
        object["additionalAttributes"] = try Self.attributes(of: device)
        for member in ["cookie", "connections", "relationships", "registration"] {
            object[member] = device.given(member)
        }
        if let fault = DiscoveryEndpoint.violation(of: object) { throw DeviceFault(fault) }
        self.object = object
        reportedProperties = capabilities.reduce(into: []) { $0.formUnion($1.reported) }
    }

    private static func categories(of device: JSONObject) throws(DeviceFault) -> JSONValue {
        guard let given = device.given("categories") else { return ["OTHER"] }
        guard let list = given.array, list.allSatisfy({ $0.string?.isEmpty == false }) else {
            throw DeviceFault(path: "categories", problem: "not a list of texts")
        }
        return list.isEmpty ? ["OTHER"] : given
    }

    private static func capabilities(of device: JSONObject) throws(DeviceFault) -> [Capability] {
        guard let list = device["capabilities"]?.array else { throw device.fault("capabilities", "not a list") }
        var capabilities: [Capability] = []
        for (index, value) in list.enumerated() {
            do throws(DeviceFault) { capabilities.append(try Capability(value)) } catch {
                throw error.below("capabilities[\(index)]")
            }
        }
        // At the end, so that a fault of another has the place that it has at the resource server.
        if !capabilities.contains(where: { $0.interface.isEmpty }) { capabilities.append(.alexa) }
        return capabilities
    }

    /// `additionalAttributes`: those that the device gives, and its maker and model.
    private static func attributes(of device: JSONObject) throws(DeviceFault) -> JSONValue? {
        var attributes = JSONObject()
        if let given = device.given("additionalAttributes") {
            guard let object = given.object else {
                throw DeviceFault(path: "additionalAttributes", problem: "not an object")
            }
            attributes = object
        }
        for name in ["manufacturer", "model"] where attributes[name] == nil {
            attributes[name] = EndpointText(try device.text(name), limit: 256).map { .string($0.text) }
        }
        return attributes.isEmpty ? Optional.none : .object(attributes)
    }
}

/// One capability in Alexa's form.
private struct Capability {
    let interface: String
    let object: JSONObject
    let reported: Set<PropertyKey>

    static let alexa = Capability(
        interface: "", object: ["type": "AlexaInterface", "interface": "Alexa", "version": "3"], reported: [])

    private init(interface: String, object: JSONObject, reported: Set<PropertyKey>) {
        self.interface = interface
        self.object = object
        self.reported = reported
    }

    init(_ value: JSONValue) throws(DeviceFault) {
        guard let given = value.object else { throw DeviceFault(path: "", problem: "not an object") }
        let interface = try given.interface()
        let instance = try given.text("instance")
        let names = try Self.propertyNames(of: given)
        var object: JSONObject = [
            "type": given["type"] ?? "AlexaInterface",
            "interface": .string(PropertyKey(interface: interface, name: "").namespace),
            "version": given["version"] ?? "3",
        ]
        object["instance"] = instance.map(JSONValue.string)
        var flags = JSONObject()
        for flag in ["proactivelyReported", "retrievable", "nonControllable"] {
            guard let value = given.given(flag) else { continue }
            guard value.bool != nil else { throw DeviceFault(path: flag, problem: "neither true nor false") }
            flags[flag] = value
        }
        var reported: Set<PropertyKey> = []
        if let names {
            var properties: JSONObject = ["supported": .array(names.map { ["name": .string($0)] })]
            for (flag, value) in flags { properties[flag] = value }
            object["properties"] = .object(properties)
            if flags["proactivelyReported"]?.bool == true {
                reported = Set(names.map { PropertyKey(interface: interface, instance: instance, name: $0) })
            }
        } else {
            // A capability without properties says by itself whether its events come, as a doorbell does.
            for (flag, value) in flags { object[flag] = value }
        }
        for (name, value) in given where object[name] == nil && name != "properties" && flags[name] == nil {
            object[name] = value
        }
        self.init(interface: interface, object: object, reported: reported)
    }

    /// The names of the properties; nil where there are none.
    private static func propertyNames(of capability: JSONObject) throws(DeviceFault) -> [String]? {
        guard let given = capability.given("properties") else { return nil }
        guard let list = given.array else { throw DeviceFault(path: "properties", problem: "not a list") }
        var names: [String] = []
        for (index, value) in list.enumerated() {
            guard let name = value.string, !name.isEmpty else {
                throw DeviceFault(path: "properties[\(index)]", problem: "not a text")
            }
            names.append(name)
        }
        return names.isEmpty ? nil : names
    }
}

/// A text that Alexa shows, trimmed and cut to fit.
private struct EndpointText {
    let text: String

    static let device = EndpointText(unchecked: "Device")
    static let maker = EndpointText(unchecked: "Unknown maker")

    private init(unchecked text: String) { self.text = text }

    /// The text; nil where nothing is to be seen of it.
    ///
    /// It is cut between characters as readers see them, and measured in UTF-16 units, of which no other count has more.
    init?(_ given: String?, limit: Int = 128) {
        guard let given else { return nil }
        var rest = given[...]
        while rest.first?.isWhitespace == true { rest.removeFirst() }
        while rest.last?.isWhitespace == true { rest.removeLast() }
        guard !rest.isEmpty else { return nil }
        var end = rest.startIndex
        var length = 0
        while end < rest.endIndex {
            let next = rest.index(after: end)
            length += rest[end..<next].utf16.count
            if length > limit { break }
            end = next
        }
        var cut = rest[..<end]
        while cut.last?.isWhitespace == true { cut.removeLast() }
        // One character of more than 128 units: a base and a heap of accents.
        text = cut.isEmpty ? String(String.UnicodeScalarView(rest.unicodeScalars.prefix(limit / 2))) : String(cut)
    }
}
