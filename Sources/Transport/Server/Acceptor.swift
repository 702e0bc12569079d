internal import CEvent
internal import Glibc
internal import Telemetry

/// Accepts connections on one loop, and hands them to all loops in turn.
///
/// One listening socket, so that one port serves all loops evenly and a second server on it is refused by the system.
final class Acceptor: @unchecked Sendable {
    // Unchecked: used on its loop's thread alone, once it is made.

    let port: Int
    private let loop: EventLoop
    private let descriptor: CInt
    private let log: Log
    private let accepted: (CInt, String) -> Void
    private var watcher: SocketWatcher?
    private var pause: LoopTimer?

    /// Listens on `host` and `port`; `accepted` gets each socket, and the peer's address.
    ///
    /// - Throws: ``ServerError`` where the system refuses.
    init(
        loop: EventLoop, host: String, port: Int, log: Log, accepted: @escaping (CInt, String) -> Void
    ) throws(ServerError) {
        self.loop = loop
        self.log = log
        self.accepted = accepted
        descriptor = try listeningSocket(host: host, port: port)
        self.port = localPort(descriptor)
    }

    func start() {
        // The cycle of acceptor and watcher ends in stop().
        let watcher = SocketWatcher(on: loop, descriptor: descriptor) { [self] _ in accept(limit: acceptLimit) }
        watcher.watch(.read)
        self.watcher = watcher
    }

    /// Listens no more, after it has accepted what the system already had: those peers believe to be connected.
    func stop() {
        guard let watcher else { return }
        accept(limit: .max)
        watcher.stop()
        self.watcher = nil
        pause?.stop()
        close(descriptor)
    }

    private func accept(limit: Int) {
        var left = limit
        while left > 0 {
            left -= 1
            var address = sockaddr_storage()
            var count = socklen_t(MemoryLayout<sockaddr_storage>.size)
            let socket = unsafe socket_accept(descriptor, &address, &count)
            if socket >= 0 {
                var on: CInt = 1
                unsafe setsockopt(
                    socket, CInt(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<CInt>.size))
                accepted(socket, numericAddress(&address, count))
                continue
            }
            switch errno {
            case EAGAIN: return
            case EINTR, ECONNABORTED, EPROTO, EPERM: continue
            default:
                // No descriptor or memory is left. The socket would tell of it without end, so it rests for a moment.
                log.error("no connection can be accepted", .errorNumber(Int(errno)))
                rest()
                return
            }
        }
    }

    private func rest() {
        watcher?.watch([])
        let pause = LoopTimer(on: loop) { [self] in watcher?.watch(.read) }
        pause.start(after: .milliseconds(100))
        self.pause = pause
    }
}

/// How many connections are accepted before other sockets of the loop get their turn.
private let acceptLimit = 64

private func listeningSocket(host: String, port: Int) throws(ServerError) -> CInt {
    var hints = unsafe addrinfo()
    unsafe hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
    unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    let problem = unsafe getaddrinfo(host, String(port), &hints, &found)
    guard problem == 0 else {
        throw ServerError("\(host) is no address to listen on: \(unsafe String(cString: gai_strerror(problem)))")
    }
    defer { unsafe freeaddrinfo(found) }
    var lastError = EADDRNOTAVAIL
    var next = unsafe found
    while let address = unsafe next?.pointee {
        unsafe next = address.ai_next
        let descriptor = unsafe socket(address.ai_family, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else {
            lastError = errno
            continue
        }
        var (on, off): (CInt, CInt) = (1, 0)
        let size = socklen_t(MemoryLayout<CInt>.size)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, size)
        if unsafe address.ai_family == AF_INET6 {
            unsafe setsockopt(descriptor, CInt(IPPROTO_IPV6), IPV6_V6ONLY, &off, size)
        }
        evutil_make_socket_nonblocking(descriptor)
        evutil_make_socket_closeonexec(descriptor)
        if unsafe bind(descriptor, address.ai_addr, address.ai_addrlen) == 0, listen(descriptor, 4096) == 0 {
            return descriptor
        }
        lastError = errno
        close(descriptor)
    }
    throw ServerError("cannot listen on \(host):\(port): \(unsafe String(cString: strerror(lastError)))")
}

private func localPort(_ descriptor: CInt) -> Int {
    var address = sockaddr_storage()
    var count = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getsockname(descriptor, $0, &count) }
    }
    guard result == 0 else { return 0 }
    // The port lies at the same place in both families.
    return unsafe withUnsafeBytes(of: address) { unsafe Int($0[2]) << 8 | Int($0[3]) }
}

/// The address without port; IPv4 inside IPv6 is written as IPv4.
private func numericAddress(_ address: inout sockaddr_storage, _ count: socklen_t) -> String {
    var text = [CChar](repeating: 0, count: 64)
    let result = unsafe withUnsafePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            unsafe getnameinfo($0, count, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
        }
    }
    guard result == 0 else { return "" }
    let written = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return written.hasPrefix("::ffff:") && written.contains(".") ? String(written.dropFirst(7)) : written
}
