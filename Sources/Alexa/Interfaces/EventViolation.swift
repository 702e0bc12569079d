import JSON

/// Why an event must not leave: Alexa would drop it, and say nothing.
public enum EventViolation: Error, Hashable, Sendable {
    /// No message has that namespace and name.
    case name
    /// A member of the message does not fit.
    case shape(ShapeFault)

    /// The way to what is wrong, and how, without any value.
    public var detail: String {
        switch self {
        case .name: "event.header.name is none of the known words"
        case .shape(let fault): fault.description
        }
    }
}

extension Event {
    /// What of Alexa's rules the event breaks; nil where it may leave.
    ///
    /// - Parameter endpointsAreJudged: whether each endpoint of a discovery was judged when it joined.
    /// - Returns: the first violation.
    public func violation(endpointsAreJudged: Bool = false) -> EventViolation? {
        if let fault = headerFault() { return .shape(fault) }
        let rule: EventRule
        if name == "ErrorResponse" {
            return errorFault().map(EventViolation.shape)
        } else if let known = EventRule.named(namespace, name) {
            rule = known
        } else {
            return .name
        }
        if let fault = presenceFault(rule) ?? rule.payload.fault(in: .object(payload))?.below("event.payload") {
            return .shape(fault)
        }
        if let fault = contextFault() ?? changeFault() { return .shape(fault) }
        return endpointsAreJudged ? nil : endpointsFault().map(EventViolation.shape)
    }

    private func headerFault() -> ShapeFault? {
        if let fault = Shape.text(1...127, .messageID).fault(in: .string(messageID)) {
            return fault.below("event.header.messageId")
        }
        if correlationToken?.isEmpty == true { return ShapeFault(.length, path: "event.header.correlationToken") }
        guard let endpointID else { return nil }
        return DiscoveryEndpoint.id.fault(in: .string(endpointID))?.below("event.endpoint.endpointId")
    }

    private func presenceFault(_ rule: EventRule) -> ShapeFault? {
        if contextProperties != nil, rule.context == .forbidden { return ShapeFault(.unexpected, path: "context") }
        switch (rule.endpoint, endpointID) {
        case (.required, nil): return ShapeFault(.missing, path: "event.endpoint")
        case (.forbidden, _?): return ShapeFault(.unexpected, path: "event.endpoint")
        default: return nil
        }
    }

    private func errorFault() -> ShapeFault? {
        guard let type = payload["type"]?.string.flatMap(SmartHomeErrorType.init), type.namespace == namespace else {
            return ShapeFault(.notOneOf, path: "event.payload.type")
        }
        guard payload["message"]?.string != nil else { return ShapeFault(.missing, path: "event.payload.message") }
        if contextProperties != nil { return ShapeFault(.unexpected, path: "context") }
        var details = payload
        details["type"] = nil
        details["message"] = nil
        return type.fault(in: details)?.below("event.payload")
    }

    private func contextFault() -> ShapeFault? {
        guard let contextProperties else { return nil }
        return propertiesFault(contextProperties)?.below("context.properties")
    }

    private func changeFault() -> ShapeFault? {
        guard name == "ChangeReport", let changed = payload["change"]?["properties"]?.array else { return nil }
        if let fault = propertiesFault(changed) { return fault.below("event.payload.change.properties") }
        // What changed stands in the payload, what did not in the context, nothing in both.
        guard let contextProperties else { return nil }
        let keys = Set(changed.map(ContextProperty.key))
        return contextProperties.contains { keys.contains(ContextProperty.key($0)) }
            ? ShapeFault(.repeated, path: "context.properties") : nil
    }

    private func propertiesFault(_ properties: [JSONValue]) -> ShapeFault? {
        for (index, property) in properties.enumerated() {
            if let fault = ContextProperty.violation(of: property) { return fault.below("[\(index)]") }
        }
        guard properties.count > 1, Set(properties.map(ContextProperty.key)).count < properties.count else {
            return nil
        }
        return ShapeFault(.repeated)
    }

    private func endpointsFault() -> ShapeFault? {
        guard name == "Discover.Response" || name == "AddOrUpdateReport" else { return nil }
        var ids: Set<String?> = []
        for (index, endpoint) in (payload["endpoints"]?.array ?? []).enumerated() {
            guard ids.insert(endpoint["endpointId"]?.string).inserted else {
                return ShapeFault(.repeated, path: "event.payload.endpoints")
            }
            if let fault = endpoint.object.flatMap(DiscoveryEndpoint.violation) {
                return fault.below("event.payload.endpoints[\(index)]")
            }
        }
        return nil
    }
}
