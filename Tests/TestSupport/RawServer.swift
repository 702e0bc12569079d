internal import COpenSSL
internal import Concurrency
internal import Glibc

/// A server on loopback that knows no HTTP: it sends and breaks exactly what a test says.
///
/// Each connection has a thread of its own, which runs the test's closure and closes the connection after it.
@safe public final class RawServer: @unchecked Sendable {
    // Unchecked: what changes is under a lock, and OpenSSL's context may be used by every thread.

    /// What went wrong at the start.
    public struct Failure: Error {
        /// The failure.
        public init() {}
    }

    private struct State: Sendable {
        var sockets: Set<CInt> = []
        var count = 0
        var isStopped = false
    }

    /// The port on 127.0.0.1.
    public let port: Int
    private let listener: CInt
    private let tls: OpaquePointer?
    private let serve: @Sendable (RawConnection) -> Void
    private let state = Locked(State())

    /// Listens; `certificates` (PEM, the server's first) and `key` (PEM) make it speak TLS.
    public init(
        certificates: [UInt8]? = nil, key: [UInt8]? = nil, _ serve: @escaping @Sendable (RawConnection) -> Void
    ) throws {
        signal(SIGPIPE, SIG_IGN)
        self.serve = serve
        if let certificates, let key {
            unsafe tls = try serverContext(certificates: certificates, key: key)
        } else {
            unsafe tls = nil
        }
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        self.listener = listener
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe bind(listener, pointer, length) == 0 && listen(listener, 512) == 0
                    && getsockname(listener, pointer, &length) == 0
            }
        }
        guard isListening else { throw Failure() }
        port = Int(UInt16(bigEndian: address.sin_port))
        try startThread { [self] in accept() }
    }

    deinit { unsafe SSL_CTX_free(tls) }

    /// How many connections came so far.
    public var connectionCount: Int { state.withLock { $0.count } }

    /// Closes the listener and every connection.
    public func stop() {
        state.withLock { state in
            guard !state.isStopped else { return }
            state.isStopped = true
            shutdown(listener, Int32(SHUT_RDWR))
            // Under the lock, since a number that was closed may already be another's socket.
            for socket in state.sockets { shutdown(socket, Int32(SHUT_RDWR)) }
        }
    }

    private func accept() {
        while true {
            let socket = Glibc.accept(listener, nil, nil)
            if socket < 0 {
                let isStopped = state.withLock { $0.isStopped }
                if !isStopped { continue }
                close(listener)
                return
            }
            let number = state.withLock { state -> Int? in
                if state.isStopped { return nil }
                state.sockets.insert(socket)
                state.count += 1
                return state.count
            }
            guard let number else {
                close(socket)
                continue
            }
            try? startThread { [self] in
                let connection = unsafe RawConnection(socket: socket, number: number, tls: tls) { [self] in
                    state.withLock { state in
                        state.sockets.remove(socket)
                        Glibc.close(socket)
                    }
                }
                if unsafe tls == nil || connection.isAgreed { serve(connection) }
                connection.close()
            }
        }
    }
}

/// One connection of a ``RawServer``, on its own thread.
@safe public final class RawConnection {
    /// 1 for the first connection of the server.
    public let number: Int
    private let socket: CInt
    private let closeSocket: () -> Void
    private let tls: OpaquePointer?
    /// Whether TLS was agreed.
    let isAgreed: Bool
    private var isClosed = false
    private var buffer: [UInt8] = []

    init(socket: CInt, number: Int, tls context: OpaquePointer?, closeSocket: @escaping () -> Void) {
        self.socket = socket
        self.closeSocket = closeSocket
        self.number = number
        var one: CInt = 1
        unsafe setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<CInt>.size))
        guard let context = unsafe context else {
            unsafe tls = nil
            isAgreed = false
            return
        }
        let session = unsafe SSL_new(context)
        unsafe tls = session
        unsafe SSL_set_fd(session, socket)
        isAgreed = unsafe SSL_accept(session) == 1
    }

    deinit { unsafe SSL_free(tls) }

    /// The next head with its empty line; nil where the connection ends before.
    public func head() -> String? {
        while true {
            if let end = headEnd() {
                defer { buffer.removeFirst(end) }
                return String(decoding: buffer[..<end], as: UTF8.self)
            }
            guard fill() else { return nil }
        }
    }

    /// The next `count` bytes; nil where the connection ends before.
    public func read(_ count: Int) -> [UInt8]? {
        while buffer.count < count {
            guard fill() else { return nil }
        }
        defer { buffer.removeFirst(count) }
        return Array(buffer[..<count])
    }

    /// Waits until the peer closes.
    public func waitForEnd() {
        while fill() { buffer = [] }
    }

    /// Sends `text`.
    @discardableResult public func write(_ text: String) -> Bool { write(Array(text.utf8)) }

    /// Sends `bytes`; false where the peer is gone.
    @discardableResult public func write(_ bytes: [UInt8]) -> Bool {
        var start = 0
        while start < bytes.count {
            let sent = unsafe bytes[start...].withUnsafeBytes { (rest: UnsafeRawBufferPointer) -> Int in
                if let tls = unsafe tls { return unsafe Int(SSL_write(tls, rest.baseAddress, Int32(rest.count))) }
                return unsafe send(socket, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
            }
            guard sent > 0 else { return false }
            start += sent
        }
        return true
    }

    /// Answers with `status` and a body of known length.
    public func answer(_ status: String = "200 OK", _ body: String = "", fields: String = "") {
        write("HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\(fields)\r\n\(body)")
    }

    /// Breaks the connection off, so that the peer gets a reset.
    public func reset() {
        var now = linger(l_onoff: 1, l_linger: 0)
        unsafe setsockopt(socket, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
        close()
    }

    /// Closes the connection.
    public func close() {
        guard !isClosed else { return }
        isClosed = true
        if let tls = unsafe tls { unsafe SSL_shutdown(tls) }
        closeSocket()
    }

    private func headEnd() -> Int? {
        guard buffer.count >= 4 else { return nil }
        for end in 4...buffer.count where buffer[end - 4..<end].elementsEqual([13, 10, 13, 10]) { return end }
        return nil
    }

    private func fill() -> Bool {
        guard !isClosed else { return false }
        var piece = [UInt8](repeating: 0, count: 16_384)
        let count: Int
        if let tls = unsafe tls {
            count = unsafe Int(SSL_read(tls, &piece, Int32(piece.count)))
        } else {
            count = unsafe recv(socket, &piece, piece.count, 0)
        }
        guard count > 0 else { return false }
        buffer += piece[..<count]
        return true
    }
}

private func serverContext(certificates: [UInt8], key: [UInt8]) throws -> OpaquePointer {
    guard let context = unsafe SSL_CTX_new(TLS_server_method()) else { throw RawServer.Failure() }
    let certificateSource = unsafe BIO_new_mem_buf(certificates, Int32(certificates.count))
    let keySource = unsafe BIO_new_mem_buf(key, Int32(key.count))
    defer {
        unsafe BIO_free(certificateSource)
        unsafe BIO_free(keySource)
    }
    let certificate = unsafe PEM_read_bio_X509(certificateSource, nil, nil, nil)
    let privateKey = unsafe PEM_read_bio_PrivateKey(keySource, nil, nil, nil)
    defer {
        unsafe X509_free(certificate)
        unsafe EVP_PKEY_free(privateKey)
    }
    guard unsafe SSL_CTX_use_certificate(context, certificate) == 1,
        unsafe SSL_CTX_use_PrivateKey(context, privateKey) == 1
    else {
        unsafe SSL_CTX_free(context)
        throw RawServer.Failure()
    }
    return unsafe context
}

private final class ThreadBody: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

/// Runs `body` on a thread of its own, which nobody waits for.
private func startThread(_ body: @escaping @Sendable () -> Void) throws {
    var thread = pthread_t()
    let context = unsafe Unmanaged.passRetained(ThreadBody(body)).toOpaque()
    guard unsafe pthread_create(&thread, nil, runThread, context) == 0 else {
        unsafe Unmanaged<ThreadBody>.fromOpaque(context).release()
        throw RawServer.Failure()
    }
    pthread_detach(thread)
}

private func runThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context = unsafe context else { return nil }
    unsafe Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue().run()
    return nil
}
