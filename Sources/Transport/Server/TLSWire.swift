internal import CEvent
internal import COpenSSL
internal import Glibc

/// A socket with TLS, by libevent's OpenSSL bufferevents.
@safe final class TLSWire: Wire {
    var connection: Connection?
    private let shard: ServerShard
    private let descriptor: CInt
    private let ssl: OpaquePointer
    private let buffers: OpaquePointer
    private var isOpen = false
    private var isClosed = false
    private var isFinished = false

    /// Takes over `descriptor` and `ssl`; nil, with both freed, where there is no memory.
    init?(shard: ServerShard, descriptor: CInt, ssl: OpaquePointer) {
        guard
            let buffers = unsafe bufferevent_openssl_socket_new(
                shard.loop.base, descriptor, ssl, BUFFEREVENT_SSL_ACCEPTING, Int32(BEV_OPT_CLOSE_ON_FREE.rawValue))
        else {
            unsafe SSL_free(ssl)
            Glibc.close(descriptor)
            return nil
        }
        self.shard = shard
        self.descriptor = descriptor
        unsafe self.ssl = ssl
        unsafe self.buffers = buffers
    }

    func start() {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe bufferevent_setcb(buffers, wireRead, wireDrained, wireEvent, context)
        unsafe bufferevent_setwatermark(buffers, Int16(EV_READ), 0, 64 * 1024)
        unsafe bufferevent_enable(buffers, Int16(EV_READ | EV_WRITE))
    }

    func send(_ head: [UInt8], _ body: [UInt8]) -> Bool {
        let output = unsafe bufferevent_get_output(buffers)
        let headAdded = unsafe evbuffer_add(output, head, head.count)
        let bodyAdded = body.isEmpty ? 0 : unsafe evbuffer_add(output, body, body.count)
        return headAdded == 0 && bodyAdded == 0
    }

    var unsentBytes: Int { unsafe evbuffer_get_length(bufferevent_get_output(buffers)) }

    func setReading(_ isReading: Bool) {
        if isReading {
            unsafe bufferevent_enable(buffers, Int16(EV_READ))
            // What was decrypted before tells of itself only if asked.
            unsafe bufferevent_trigger(buffers, Int16(EV_READ), Int32(BEV_TRIG_DEFER_CALLBACKS.rawValue))
        } else {
            unsafe bufferevent_disable(buffers, Int16(EV_READ))
        }
    }

    /// What has come is decrypted by the loop alone.
    func poll() {}

    func finish() {
        sayGoodbye()
        shutdown(descriptor, Int32(SHUT_WR))
    }

    func close() {
        connection = nil
        isClosed = true
        sayGoodbye()
        unsafe bufferevent_setcb(buffers, nil, nil, nil, nil)
        unsafe bufferevent_free(buffers)  // with the socket and the state of TLS
    }

    private func sayGoodbye() {
        guard isOpen, !isFinished else { return }
        isFinished = true
        unsafe SSL_shutdown(ssl)
        ERR_clear_error()
    }

    fileprivate func receive() {
        let buffer = unsafe shard.buffer
        while !isClosed, unsafe bufferevent_get_enabled(buffers) & Int16(EV_READ) != 0 {
            let count = unsafe bufferevent_read(buffers, buffer.baseAddress, buffer.count)
            guard count > 0 else { return }
            connection?.received(unsafe Span(_unsafeElements: UnsafeBufferPointer(rebasing: buffer[..<count])))
        }
    }

    fileprivate func drained() { connection?.drained() }

    fileprivate func happened(_ events: Int32) {
        if events & Int32(BEV_EVENT_CONNECTED) != 0 {
            isOpen = true
            connection?.opened()
        } else if events & Int32(BEV_EVENT_ERROR) != 0 {
            isOpen = false
            connection?.ended(isBroken: true)
        } else if events & Int32(BEV_EVENT_EOF) != 0 {
            connection?.ended(isBroken: false)
        }
    }
}

// The connection holds the wire until it closes it, and a closed wire is called no more; each call holds it meanwhile.

private func wire(_ context: UnsafeMutableRawPointer?) -> TLSWire? {
    guard let context = unsafe context else { return nil }
    return unsafe Unmanaged<TLSWire>.fromOpaque(context).takeUnretainedValue()
}

private func wireRead(_: OpaquePointer?, _ context: UnsafeMutableRawPointer?) { unsafe wire(context)?.receive() }

private func wireDrained(_: OpaquePointer?, _ context: UnsafeMutableRawPointer?) { unsafe wire(context)?.drained() }

private func wireEvent(_: OpaquePointer?, _ events: Int16, _ context: UnsafeMutableRawPointer?) {
    unsafe wire(context)?.happened(Int32(events))
}
