import Glibc

/// A port that nobody listens on, for addresses that must be known before the service is made.
///
/// Another process could take it in between; that is a start that fails, in development alone.
func freePort(host: String) -> Int? {
    var hints = unsafe addrinfo()
    unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    guard unsafe getaddrinfo(host, nil, &hints, &found) == 0, let address = unsafe found else { return nil }
    defer { unsafe freeaddrinfo(address) }
    let descriptor = unsafe socket(address.pointee.ai_family, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    guard unsafe bind(descriptor, address.pointee.ai_addr, address.pointee.ai_addrlen) == 0 else { return nil }
    var name = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let isNamed = unsafe withUnsafeMutablePointer(to: &name) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getsockname(descriptor, $0, &length) }
    }
    guard isNamed == 0 else { return nil }
    // The port stands at the same place in both families.
    return unsafe withUnsafeBytes(of: &name) {
        Int(UInt16(bigEndian: unsafe $0.load(fromByteOffset: 2, as: UInt16.self)))
    }
}
