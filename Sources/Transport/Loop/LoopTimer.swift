internal import CEvent
internal import Glibc

/// A timer of one loop: it fires once a start, and can be started again.
///
/// Used on the loop's thread alone. While it runs it keeps itself alive, so it can be dropped without being stopped.
@safe public final class LoopTimer {
    private let loop: EventLoop
    private let memory: UnsafeMutablePointer<event>
    private var action: () -> Void
    private var isHeld = false

    /// A timer that does `action` on `loop`'s thread each time it fires.
    public init(on loop: EventLoop, _ action: @escaping () -> Void) {
        self.loop = loop
        self.action = action
        unsafe memory = .allocate(capacity: 1)
        unsafe memory.initialize(to: event())
        unsafe event_assign(memory, loop.base, -1, 0, timerFired, Unmanaged.passUnretained(self).toOpaque())
    }

    // Not pending here: a pending timer holds itself. So the loop's base knows nothing of this memory any more.
    deinit { unsafe memory.deallocate() }

    /// Whether it was started and has neither fired nor been stopped.
    public var isRunning: Bool { isHeld }

    /// Fires after `delay`; a timer that already runs is set anew.
    public func start(after delay: Duration) {
        assert(loop.isCurrent, "a timer belongs to its loop's thread")
        let (seconds, attoseconds) = max(.zero, delay).components
        var time = timeval(tv_sec: Int(clamping: seconds), tv_usec: Int(attoseconds / 1_000_000_000_000))
        hold()
        unsafe event_add(memory, &time)
    }

    /// Keeps it from firing.
    public func stop() {
        assert(loop.isCurrent, "a timer belongs to its loop's thread")
        guard isHeld else { return }
        unsafe event_del(memory)
        letGo()
    }

    fileprivate func fire() {
        letGo()
        action()
    }

    private func hold() {
        guard !isHeld else { return }
        isHeld = true
        _ = unsafe Unmanaged.passRetained(self)
    }

    private func letGo() {
        isHeld = false
        unsafe Unmanaged.passUnretained(self).release()
    }
}

private func timerFired(_: CInt, _: Int16, _ context: UnsafeMutableRawPointer?) {
    guard let context = unsafe context else { return }
    // Retained for the call: the timer lets itself go before it acts.
    let timer = unsafe Unmanaged<LoopTimer>.fromOpaque(context).takeUnretainedValue()
    withExtendedLifetime(timer) { timer.fire() }
}
