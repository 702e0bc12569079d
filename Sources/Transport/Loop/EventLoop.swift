internal import CEvent
internal import Concurrency
internal import Glibc

/// One thread that waits for sockets and timers, and runs what they set off.
///
/// Everything that belongs to a loop (its timers, watchers, connections) is touched on the loop's thread alone, so it
/// needs no lock; the one door from other threads is ``execute(_:)``. A loop is also a task executor: a handler that
/// was started on it and waited goes on there. Nothing that takes over a millisecond may run here.
@safe public final class EventLoop: TaskExecutor, @unchecked Sendable {
    // Unchecked: `base`, `wake` and `thread` are written before the thread starts and are then used by it alone;
    // `jobs` has its lock.
    let base: OpaquePointer
    private let wake: UnsafeMutablePointer<event>
    private let wakeDescriptor: CInt
    private let name: String
    private let thread = Locked<pthread_t?>(nil)
    private let jobs = Locked(Jobs())

    private enum Job: Sendable {
        case closure(@Sendable () -> Void)
        case task(UnownedJob)
    }

    private struct Jobs {
        var waiting: [Job] = []
        /// Whether the loop already knows that something waits.
        var isAwake = false
        var isStopped = false
    }

    /// Starts a loop on a thread of its own, named `name` where tools list threads.
    ///
    /// - Throws: ``EventLoopError`` where the system gives no descriptor or thread.
    init(name: String) throws(EventLoopError) {
        guard let configuration = unsafe event_config_new() else { throw EventLoopError("no memory for an event loop") }
        defer { unsafe event_config_free(configuration) }
        // No locks inside libevent: one thread uses this base.
        unsafe event_config_set_flag(configuration, Int32(EVENT_BASE_FLAG_NOLOCK.rawValue))
        guard let base = unsafe event_base_new_with_config(configuration) else {
            throw EventLoopError("the system gives no event queue: errno \(errno)")
        }
        let descriptor = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
        guard descriptor >= 0, let wake = unsafe event_new(base, descriptor, Int16(EV_READ | EV_PERSIST), nil, nil)
        else {
            unsafe event_base_free(base)
            throw EventLoopError("the system gives no event descriptor: errno \(errno)")
        }
        unsafe self.base = base
        unsafe self.wake = wake
        wakeDescriptor = descriptor
        self.name = name
        unsafe event_assign(
            wake, base, descriptor, Int16(EV_READ | EV_PERSIST), loopWoken, Unmanaged.passUnretained(self).toOpaque())
        unsafe event_add(wake, nil)
        try start()
    }

    deinit {
        unsafe event_free(wake)
        unsafe event_base_free(base)
        close(wakeDescriptor)
    }

    /// The loop whose thread this is; nil elsewhere.
    public static var current: EventLoop? {
        // Asked of the system each time: a compiler may keep a thread-local's address across a wait, and with it
        // the thread before.
        guard let pointer = unsafe pthread_getspecific(currentLoopKey) else { return nil }
        return unsafe Unmanaged<EventLoop>.fromOpaque(pointer).takeUnretainedValue()
    }

    /// Whether the caller runs on this loop's thread.
    public var isCurrent: Bool {
        unsafe pthread_getspecific(currentLoopKey) == Unmanaged.passUnretained(self).toOpaque()
    }

    /// Runs `job` on the loop's thread, soon and in the order of the calls; from any thread.
    ///
    /// The job never runs inside this call. Returns false, and runs nothing, once the loop was shut down.
    @discardableResult public func execute(_ job: @escaping @Sendable () -> Void) -> Bool {
        add(.closure(job))
    }

    /// Lets a task go on on the loop's thread; after shutdown on the global executor, so that no task is lost.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if !add(.task(job)) { globalConcurrentExecutor.enqueue(ExecutorJob(job)) }
    }

    private func add(_ job: Job) -> Bool {
        enum Step { case refused, nothing, wake }
        let isCurrent = isCurrent
        let step: Step = jobs.withLock { jobs in
            if jobs.isStopped { return .refused }
            jobs.waiting.append(job)
            if jobs.isAwake { return .nothing }
            jobs.isAwake = true
            return .wake
        }
        guard step == .wake else { return step == .nothing }
        if isCurrent {
            // Not EV_READ, which says that the descriptor has something to be read.
            unsafe event_active(wake, Int32(EV_TIMEOUT), 0)
        } else {
            eventfd_write(wakeDescriptor, 1)
        }
        return true
    }

    /// Runs what waits; what that adds runs in the next round, after the sockets had their turn.
    fileprivate func runJobs(isSignalled: Bool) {
        // Read before the jobs are taken: a job added in between then leaves its own signal behind. The other way
        // round its signal would be read here, and nothing would wake the loop for it.
        if isSignalled {
            var count: eventfd_t = 0
            _ = unsafe eventfd_read(wakeDescriptor, &count)
        }
        let waiting = jobs.withLock { jobs in
            defer {
                jobs.waiting = []
                jobs.isAwake = false
            }
            return jobs.waiting
        }
        for job in waiting {
            switch job {
            case .closure(let closure): closure()
            case .task(let task): unsafe task.runSynchronously(on: asUnownedTaskExecutor())
            }
        }
    }

    private func start() throws(EventLoopError) {
        var thread = pthread_t()
        let context = unsafe Unmanaged.passRetained(self)
        guard unsafe pthread_create(&thread, nil, runLoop, context.toOpaque()) == 0 else {
            unsafe context.release()
            throw EventLoopError("the system gives no thread")
        }
        let started = thread
        self.thread.withLock { $0 = started }
    }

    fileprivate func run() {
        unsafe thread_set_name(name)
        unsafe pthread_setspecific(currentLoopKey, Unmanaged.passUnretained(self).toOpaque())
        unsafe event_base_loop(base, EVLOOP_NO_EXIT_ON_EMPTY)
        // What was added between the last round and the stop; nothing is added after it.
        runJobs(isSignalled: false)
        pthread_setspecific(currentLoopKey, nil)
    }

    /// Ends the thread when what was added before has run, and waits for that; not to be called on the loop itself.
    func shutdown() {
        precondition(!isCurrent, "a loop cannot wait for itself")
        execute { [self] in
            jobs.withLock { $0.isStopped = true }
            unsafe event_base_loopbreak(base)
        }
        let thread = self.thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        if let thread { pthread_join(thread, nil) }
    }
}

/// Why a loop did not start.
public struct EventLoopError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reason, in words.
    public let description: String

    init(_ description: String) { self.description = description }
}

private let currentLoopKey: pthread_key_t = {
    var key = pthread_key_t()
    precondition(unsafe pthread_key_create(&key, nil) == 0, "the system gives no thread-local storage")
    return key
}()

// C calls these: plain functions, isolated to nothing.

private func loopWoken(_: CInt, _ events: Int16, _ context: UnsafeMutableRawPointer?) {
    guard let context = unsafe context else { return }
    let isSignalled = events & Int16(EV_READ) != 0
    unsafe Unmanaged<EventLoop>.fromOpaque(context).takeUnretainedValue().runJobs(isSignalled: isSignalled)
}

private func runLoop(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context = unsafe context else { return nil }
    unsafe Unmanaged<EventLoop>.fromOpaque(context).takeRetainedValue().run()
    return nil
}
