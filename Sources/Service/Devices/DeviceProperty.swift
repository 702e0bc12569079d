public import Alexa
public import JSON
public import Time

/// A property of a device, as resource servers write it: `{"interface","name","value","instance"?,"sampledAt"?,…}`.
public struct DeviceProperty: Hashable, Sendable {
    /// Which property it is.
    public let key: PropertyKey
    /// The value, in Alexa's form.
    public let value: JSONValue
    /// When the value was read off the device; nil is the moment of the report.
    public let sampledAt: UnixTime?
    /// How much the device may have changed since, in milliseconds; an integer or a number with a fraction, not negative.
    public let uncertaintyMilliseconds: JSONValue

    /// A property.
    public init(
        _ key: PropertyKey, _ value: JSONValue, sampledAt: UnixTime? = nil, uncertaintyMilliseconds: JSONValue = 0
    ) {
        self.key = key
        self.value = value
        self.sampledAt = sampledAt
        self.uncertaintyMilliseconds = uncertaintyMilliseconds
    }

    /// Reads what a resource server sent.
    ///
    /// Whether the value fits the interface is not judged here.
    ///
    /// - Throws: ``DeviceFault``, which names the member.
    public init(decoding json: JSONValue) throws(DeviceFault) {
        guard let object = json.object else { throw DeviceFault(path: "", problem: "not an object") }
        let interface = try object.interface()
        guard let name = object["name"]?.string, !name.isEmpty else { throw object.fault("name", "not a text") }
        guard let value = object["value"] else { throw DeviceFault(path: "value", problem: "missing") }
        var sampledAt: UnixTime?
        if let given = object.given("sampledAt") {
            guard let moment = given.string.flatMap(UnixTime.init(iso8601:)), (1000...9999).contains(moment.year) else {
                throw DeviceFault(path: "sampledAt", problem: "not a time as 2026-11-30T12:00:00Z is")
            }
            sampledAt = moment
        }
        let uncertainty = object.given("uncertaintyMilliseconds") ?? 0
        guard let milliseconds = uncertainty.double, milliseconds >= 0 else {
            throw DeviceFault(path: "uncertaintyMilliseconds", problem: "not a number of 0 or more")
        }
        let key = PropertyKey(interface: interface, instance: try object.text("instance"), name: name)
        self.init(key, key.switchValue(value), sampledAt: sampledAt, uncertaintyMilliseconds: uncertainty)
    }

    /// The property as a resource server writes it.
    public var json: JSONValue {
        var object: JSONObject = [
            "interface": .string(key.interface.isEmpty ? "Alexa" : key.interface), "name": .string(key.name),
            "value": value,
        ]
        object["instance"] = key.instance.map(JSONValue.string)
        object["sampledAt"] = sampledAt.map { .string($0.iso8601(fraction: true)) }
        object["uncertaintyMilliseconds"] = uncertaintyMilliseconds
        return .object(object)
    }

    /// The property as Alexa's `context` wants it.
    ///
    /// - Parameter now: the time of the sample, where the resource server gave none.
    /// - Returns: the property object.
    public func contextProperty(now: UnixTime) -> JSONValue {
        var object: JSONObject = [
            "namespace": .string(key.namespace), "name": .string(key.name), "value": value,
            "timeOfSample": .string((sampledAt ?? now).iso8601(fraction: true)),
            "uncertaintyInMilliseconds": uncertaintyMilliseconds,
        ]
        object["instance"] = key.instance.map(JSONValue.string)
        return .object(object)
    }
}

extension PropertyKey {
    /// ON and OFF for true and false, where the property is a switch: many servers say it so.
    fileprivate func switchValue(_ value: JSONValue) -> JSONValue {
        guard let isOn = value.bool, let shape = AlexaInterface.named(namespace)?.property(name)?.value,
            shape.fault(in: value) != nil, shape.fault(in: "ON") == nil, shape.fault(in: "OFF") == nil
        else { return value }
        return isOn ? "ON" : "OFF"
    }
}

extension UnixTime {
    fileprivate var year: Int { Int(iso8601().prefix { $0 != "-" }) ?? 0 }
}

extension JSONObject {
    /// The member, where it is there and not null.
    func given(_ name: String) -> JSONValue? {
        // Not by a conditional expression: `nil` in it would be the JSON value.
        guard let value = self[name], !value.isNull else { return Optional.none }
        return value
    }

    /// A fault of a member, or that it is missing.
    func fault(_ name: String, _ problem: String) -> DeviceFault {
        DeviceFault(path: name, problem: self[name] == nil ? "missing" : problem)
    }

    /// The text of a member that may be left out, or null.
    func text(_ name: String) throws(DeviceFault) -> String? {
        guard let value = given(name) else { return nil }
        guard let text = value.string else { throw DeviceFault(path: name, problem: "not a text") }
        return text
    }

    /// The member `interface`; empty for `Alexa` itself.
    func interface() throws(DeviceFault) -> String {
        guard let interface = self["interface"]?.string else { throw fault("interface", "not a text") }
        guard !interface.hasPrefix("Alexa.") else {
            throw DeviceFault(path: "interface", problem: "interfaces are written without Alexa.")
        }
        return interface == "Alexa" ? "" : interface
    }
}
