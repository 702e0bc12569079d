import JSON

/// A directive for an endpoint that an interface takes, with arguments that it takes.
///
/// Only ``Directive/checked()`` makes one, so nothing else is ever sent to a provider.
public struct CheckedDirective: Sendable {
    /// The directive.
    public let directive: Directive
    /// The interface that takes it.
    public let interface: AlexaInterface
    /// What the interface says of it.
    public let rule: DirectiveRule
    /// The endpoint that it is for.
    public let endpointID: String
    /// Which of several like controllers is meant, where the directive says so.
    public let instance: String?
}

extension Directive {
    /// The directive, judged by the table of its interface.
    ///
    /// Discover and AcceptGrant, which are for no endpoint, have decoders of their own: ``Discover`` and ``AcceptGrant``.
    ///
    /// - Throws: what is wrong with it, with what the answer repeats.
    public func checked() throws(DirectiveRejection) -> CheckedDirective {
        guard let interface = AlexaInterface.named(header.namespace), let rule = interface.directive(header.name) else {
            throw DirectiveRejection(.unknown, echo: echo)
        }
        guard let endpoint else { throw DirectiveRejection(.malformed(path: "directive.endpoint"), echo: echo) }
        if interface.needsInstance, header.instance?.isEmpty ?? true {
            throw DirectiveRejection(.malformed(path: "directive.header.instance"), echo: echo)
        }
        guard payload.repeatedMember == nil else {
            throw DirectiveRejection(.repeatedMember(path: "directive.payload"), echo: echo)
        }
        if let fault = rule.payload?.fault(in: payload.value) {
            throw DirectiveRejection(.payload(fault), echo: echo)
        }
        return CheckedDirective(
            directive: self, interface: interface, rule: rule, endpointID: endpoint.endpointID,
            instance: header.instance)
    }
}
