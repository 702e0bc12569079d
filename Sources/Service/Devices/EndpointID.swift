import Crypto

/// The way between a resource server's device ids, which may be any text, and Alexa's endpoint ids.
///
/// Alexa takes letters, digits and `_-=#;:?@&`, at most 256 of them. An id that is so already stays as it is; any other
/// becomes base64url behind `=b:`, and one that is too long even for that a digest behind `=d:`, which is found again
/// only where somebody kept it. So an id depends on the device's own alone, whatever else changes about the device.
public enum EndpointID {
    /// How long an endpoint id may be.
    public static let maximumLength = 256
    private static let base64Prefix = "=b:"
    private static let digestPrefix = "=d:"

    /// What an endpoint id stands for.
    public enum Decoded: Hashable, Sendable {
        /// The device of that id.
        case device(String)
        /// The device whose id has this SHA-256 digest, in lower-case hexadecimal digits.
        case digest(String)
    }

    /// The endpoint id of a device.
    ///
    /// - Parameter deviceID: the device's id, not empty.
    /// - Returns: the id for Alexa.
    public static func encode(_ deviceID: String) -> String {
        if isPlain(deviceID) { return deviceID }
        let encoded = base64Prefix + Base64URL.encode(Array(deviceID.utf8))
        return encoded.utf8.count <= maximumLength ? encoded : digestPrefix + digest(of: deviceID)
    }

    /// The digest that has to be kept with the device's id, where nothing else leads back to it.
    public static func keptDigest(of deviceID: String) -> String? {
        guard case .digest(let digest) = decode(encode(deviceID)) else { return nil }
        return digest
    }

    /// The device that an endpoint id stands for; an id that was not made here is the device's own.
    public static func decode(_ endpointID: String) -> Decoded {
        if endpointID.hasPrefix(base64Prefix) {
            guard let bytes = Base64URL.decode(endpointID.dropFirst(base64Prefix.count)),
                let deviceID = String(validating: bytes, as: UTF8.self), !deviceID.isEmpty,
                encode(deviceID) == endpointID
            else { return .device(endpointID) }
            return .device(deviceID)
        }
        if endpointID.hasPrefix(digestPrefix) {
            let digest = endpointID.utf8.dropFirst(digestPrefix.utf8.count)
            let isDigest = digest.count == 64 && digest.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
            return isDigest ? .digest(String(decoding: digest, as: UTF8.self)) : .device(endpointID)
        }
        return .device(endpointID)
    }

    private static func digest(of deviceID: String) -> String { Hex.encode(SHA256.digest(Array(deviceID.utf8))) }

    /// Whether an id can stay as it is.
    private static func isPlain(_ deviceID: String) -> Bool {
        let bytes = deviceID.utf8
        return !bytes.isEmpty && bytes.count <= maximumLength && bytes.allSatisfy(isAllowed)
            && !deviceID.hasPrefix(base64Prefix) && !deviceID.hasPrefix(digestPrefix)
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, 65...90, 97...122: true
        default: "_-=#;:?@&".utf8.contains(byte)
        }
    }
}
