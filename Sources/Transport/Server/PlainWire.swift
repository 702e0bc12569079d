internal import CEvent
internal import Glibc

/// A socket without TLS.
final class PlainWire: Wire {
    var connection: Connection?
    private let shard: ServerShard
    private let descriptor: CInt
    private var watcher: SocketWatcher?
    private var isReading = true
    /// What the peer has not taken yet, in order, and how much of the first it has.
    private var unsent: [[UInt8]] = []
    private var sentOfFirst = 0
    private(set) var unsentBytes = 0

    init(shard: ServerShard, descriptor: CInt) {
        self.shard = shard
        self.descriptor = descriptor
    }

    func start() {
        // The cycle of wire and watcher ends in close().
        watcher = SocketWatcher(on: shard.loop, descriptor: descriptor) { [self] ready in
            if ready.contains(.write) { sendUnsent() }
            if ready.contains(.read), isReading, watcher != nil { receive() }
        }
        watch()
    }

    private func watch() {
        var interest: SocketWatcher.Interest = []
        if isReading { interest.insert(.read) }
        if unsentBytes > 0 { interest.insert(.write) }
        watcher?.watch(interest)
    }

    private func receive() {
        let buffer = unsafe shard.buffer
        let count = unsafe recv(descriptor, buffer.baseAddress, buffer.count, 0)
        if count > 0 {
            let bytes = unsafe Span(_unsafeElements: UnsafeBufferPointer(rebasing: buffer[..<count]))
            connection?.received(bytes)
        } else if count == 0 {
            connection?.ended(isBroken: false)
        } else if errno != EAGAIN, errno != EINTR {
            connection?.ended(isBroken: true)
        }
    }

    func send(_ head: [UInt8], _ body: [UInt8]) -> Bool {
        let total = head.count + body.count
        var sent = 0
        if unsentBytes == 0 {
            sent = unsafe head.withUnsafeBytes { head in
                unsafe body.withUnsafeBytes { body in
                    unsafe socket_send_two(descriptor, head.baseAddress, head.count, body.baseAddress, body.count)
                }
            }
            if sent < 0 {
                guard errno == EAGAIN || errno == EINTR else { return false }
                sent = 0
            }
            if sent == total { return true }
            sentOfFirst = sent < head.count ? sent : sent - head.count
        }
        if sent < head.count { unsent.append(head) }
        if !body.isEmpty { unsent.append(body) }
        unsentBytes += total - sent
        watch()
        return true
    }

    private func sendUnsent() {
        while let first = unsent.first {
            let offset = sentOfFirst
            let sent = unsafe first.withUnsafeBytes { bytes in
                unsafe socket_send_two(
                    descriptor, bytes.baseAddress?.advanced(by: offset), bytes.count - offset, nil, 0)
            }
            guard sent >= 0 else {
                if errno == EAGAIN || errno == EINTR { return }
                connection?.ended(isBroken: true)
                return
            }
            unsentBytes -= sent
            sentOfFirst += sent
            if sentOfFirst < first.count { return }
            unsent.removeFirst()
            sentOfFirst = 0
        }
        watch()
        connection?.drained()
    }

    func setReading(_ isReading: Bool) {
        self.isReading = isReading
        watch()
    }

    func poll() { receive() }

    func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

    func close() {
        connection = nil
        watcher?.stop()
        watcher = nil
        unsent = []
        Glibc.close(descriptor)
    }
}
