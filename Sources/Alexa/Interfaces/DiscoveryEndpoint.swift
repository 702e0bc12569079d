public import JSON

/// An endpoint as discovery and AddOrUpdateReport describe it.
public enum DiscoveryEndpoint {
    /// The id of an endpoint.
    static let id = Shape.text(1...256, .endpointID)
    /// How large a cookie may be, as JSON.
    static let cookieLimitBytes = 5000

    /// What is wrong with an endpoint; nil where Alexa takes it.
    ///
    /// One endpoint that Alexa does not take makes it drop the whole list, so each is judged alone before it joins.
    public static func violation(of endpoint: JSONObject) -> ShapeFault? {
        if let fault = shape.fault(in: .object(endpoint)) { return fault }
        if let cookie = endpoint["cookie"], cookie.encoded().count > cookieLimitBytes {
            return ShapeFault(.length, path: "cookie")
        }
        if let cookie = endpoint["cookie"]?.object, cookie.contains(where: { $0.value.string == nil }) {
            return ShapeFault(.kind, path: "cookie")
        }
        let capabilities = endpoint["capabilities"]?.array ?? []
        for (index, capability) in capabilities.enumerated() {
            if let fault = violation(ofCapability: capability) { return fault.below("capabilities[\(index)]") }
        }
        let keys = capabilities.map { [$0["interface"]?.string, $0["instance"]?.string] }
        guard Set(keys).count == keys.count else { return ShapeFault(.repeated, path: "capabilities") }
        // Without it Alexa calls the device unresponsive.
        return keys.contains(["Alexa", nil]) ? nil : ShapeFault(.missing, path: "capabilities.Alexa")
    }

    private static func violation(ofCapability capability: JSONValue) -> ShapeFault? {
        guard let interface = AlexaInterface.named(capability["interface"]?.string ?? "") else { return nil }
        guard capability["version"] == "3" else { return ShapeFault(.notOneOf, path: "version") }
        if interface.needsInstance, capability["instance"]?.string?.isEmpty ?? true {
            return ShapeFault(.missing, path: "instance")
        }
        for (index, supported) in (capability["properties"]?["supported"]?.array ?? []).enumerated()
        where interface.property(supported["name"]?.string ?? "") == nil {
            return ShapeFault(.notOneOf, path: "properties.supported[\(index)].name")
        }
        if let fault = Shape.object(interface.capability, isOpen: true).fault(in: capability) { return fault }
        guard let range = capability["configuration"]?["supportedRange"],
            let minimum = range["minimumValue"]?.double, let maximum = range["maximumValue"]?.double
        else { return nil }
        return minimum <= maximum
            ? nil : ShapeFault(.outOfRange(minimum, maximum), path: "configuration.supportedRange.maximumValue")
    }

    private static let words = Shape.text(1...128)
    private static let attribute = Shape.text(0...256)
    private static let shape = Shape.object(
        [
            .required("endpointId", id), .required("manufacturerName", words), .required("friendlyName", words),
            .required("description", words),
            .required("displayCategories", .list(.text(1...128), 1...Int.max, isSet: true)),
            .required("capabilities", .list(capability, 1...Int.max)), .optional("cookie", .map(.text())),
            .optional(
                "additionalAttributes",
                .object([
                    .optional("manufacturer", attribute), .optional("model", attribute),
                    .optional("serialNumber", attribute), .optional("firmwareVersion", attribute),
                    .optional("softwareVersion", attribute), .optional("customIdentifier", attribute),
                ])),
            .optional(
                "connections",
                .list(
                    .object([
                        .required("type", .oneOf(["TCP_IP", "ZIGBEE", "ZWAVE", "UNKNOWN"])),
                        .optional("macAddress", .text()), .optional("homeId", .text()), .optional("nodeId", .text()),
                        .optional("value", .text()),
                    ]))),
            .optional("relationships", .anyObject), .optional("registration", .anyObject),
        ], isOpen: true)
    private static let capability = Shape.object(
        [
            .required("type", .oneOf(["AlexaInterface"])), .required("interface", .text(1...256, .namespace)),
            .required("version", .text(1...16, .version)),
            .optional(
                "properties",
                .object([
                    .optional("supported", .list(.object([.required("name", .text(1...256))]), isSet: true)),
                    .optional("proactivelyReported", .bool), .optional("retrievable", .bool),
                    .optional("nonControllable", .bool), .optional("readOnly", .bool),
                ])),
            .optional(
                "directiveConfigurations",
                .list(.object([.optional("directives", .list(.text()))], isOpen: true))),
            .optional("semantics", .semantics),
        ], isOpen: true)
}
