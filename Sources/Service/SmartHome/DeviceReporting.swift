/// Whoever wants to know what directives bring to light, so that Alexa can be told of changes.
///
/// Both are called before the answer leaves, so neither may wait.
public protocol DeviceReporting: Sendable {
    /// A discovery found these devices of a user; each endpoint says which of its properties are reported by themselves.
    func discovered(subject: String, devices: [DeviceEndpoint])
    /// A command to an interface of a device, to that instance of it, left the device with these properties.
    func commanded(
        subject: String, deviceID: String, interface: String, instance: String?, properties: [DeviceProperty])
}
