import Alexa

/// What is wrong with a value that a resource server, or the devices file, gives.
public struct DeviceFault: Error, Hashable, Sendable {
    /// The member at fault, as in `capabilities[1].interface`; empty for the value as a whole.
    public let path: String
    /// What is wrong; never quotes the value.
    public let problem: String

    /// A fault.
    public init(path: String, problem: String) {
        self.path = path
        self.problem = problem
    }

    /// The fault as seen from the object that holds the value.
    func below(_ outer: String) -> DeviceFault {
        if path.isEmpty { return DeviceFault(path: outer, problem: problem) }
        return DeviceFault(path: path.hasPrefix("[") ? outer + path : outer + "." + path, problem: problem)
    }
}

extension DeviceFault {
    /// A value that is not as Alexa wants it.
    init(_ fault: ShapeFault) {
        // The description of a fault begins with its path.
        let words = fault.description.dropFirst(fault.path.isEmpty ? 0 : fault.path.count + 1)
        self.init(path: fault.path, problem: String(words))
    }
}
