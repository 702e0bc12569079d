internal import CEvent
internal import Glibc

/// Tells when a socket can be read or written.
///
/// Used on the loop's thread alone. It is level-triggered: it tells again as long as the socket is ready. While it
/// watches it keeps itself alive; ``stop()`` ends that, from inside its own action too. It never closes the socket.
@safe public final class SocketWatcher {
    /// What a socket is ready for, or is watched for.
    public struct Interest: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: UInt8
        /// Interest of these bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        /// There is something to read, or the peer has left.
        public static let read = Interest(rawValue: 1)
        /// There is room to write.
        public static let write = Interest(rawValue: 2)
    }

    private let loop: EventLoop
    private let memory: UnsafeMutablePointer<event>
    private let action: (Interest) -> Void
    /// What is watched now.
    public private(set) var interest: Interest = []
    /// The socket.
    public let descriptor: CInt

    /// A watcher of `descriptor` that watches nothing yet.
    public init(on loop: EventLoop, descriptor: CInt, _ action: @escaping (Interest) -> Void) {
        self.loop = loop
        self.descriptor = descriptor
        self.action = action
        unsafe memory = .allocate(capacity: 1)
        unsafe memory.initialize(to: event())
    }

    // Not pending here: a watcher that watches holds itself.
    deinit { unsafe memory.deallocate() }

    /// Watches for `interest` from now on; for nothing where it is empty.
    public func watch(_ interest: Interest) {
        assert(loop.isCurrent, "a watcher belongs to its loop's thread")
        guard interest != self.interest else { return }
        let wasWatching = !self.interest.isEmpty
        if wasWatching { unsafe event_del(memory) }
        self.interest = interest
        if !interest.isEmpty {
            var events = EV_PERSIST
            if interest.contains(.read) { events |= EV_READ }
            if interest.contains(.write) { events |= EV_WRITE }
            unsafe event_assign(
                memory, loop.base, descriptor, Int16(events), socketReady, Unmanaged.passUnretained(self).toOpaque())
            unsafe event_add(memory, nil)
            if !wasWatching { _ = unsafe Unmanaged.passRetained(self) }
        } else if wasWatching {
            unsafe Unmanaged.passUnretained(self).release()
        }
    }

    /// Watches no more; to be called before the socket is closed.
    public func stop() { watch([]) }

    fileprivate func ready(_ events: Int16) {
        var ready: Interest = []
        if events & Int16(EV_READ) != 0 { ready.insert(.read) }
        if events & Int16(EV_WRITE) != 0 { ready.insert(.write) }
        action(ready)
    }
}

private func socketReady(_: CInt, _ events: Int16, _ context: UnsafeMutableRawPointer?) {
    guard let context = unsafe context else { return }
    let watcher = unsafe Unmanaged<SocketWatcher>.fromOpaque(context).takeUnretainedValue()
    withExtendedLifetime(watcher) { watcher.ready(events) }
}
