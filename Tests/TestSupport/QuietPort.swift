import Glibc

/// A port of loopback on which nobody listens and nobody else can: connections to it are refused.
///
/// It lies below the range from which the system deals ports out, so that no connection of another test meets it. Once
/// released, a program that a test starts can listen there.
public final class QuietPort {
    /// Why there is none.
    public struct Fault: Error {}

    /// The port.
    public let number: Int
    private var descriptor: Int32

    /// Takes a port.
    ///
    /// - Throws: ``Fault`` where many tries found none.
    public init() throws {
        for _ in 0..<200 {
            let port = Int.random(in: 20_000..<30_000)
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            guard descriptor >= 0 else { break }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = UInt16(port).bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            let bound = unsafe withUnsafePointer(to: &address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            if bound == 0 {
                number = port
                self.descriptor = descriptor
                return
            }
            close(descriptor)
        }
        throw Fault()
    }

    deinit { release() }

    /// Lets others listen there.
    public func release() {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
    }
}
