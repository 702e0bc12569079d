import Concurrency
import Glibc
import Time

/// The entries that wait and the one thread that writes them.
///
/// Who logs only appends to a bounded list. A full list drops the entry and counts it; the writer says how many were
/// lost as soon as it gets on. The writer collects for a few milliseconds, so a busy program wakes it some hundred
/// times a second and not once a line.
final class LogWriter: Sendable {
    private struct Waiting: Sendable {
        var entries: [LogEntry] = []
        var dropped = 0
        var isAsleep = true
        var isClosed = false
    }

    private let waiting = Locked(Waiting())
    private let sink: Locked<any LogSink>
    private let bell = Bell()
    private let capacity: Int
    private let format: LogFormat
    private let clock: WallClock
    private let droppedLines: Counter?
    private let thread = Locked<pthread_t?>(nil)

    init(capacity: Int, format: LogFormat, clock: @escaping WallClock, sink: any LogSink, droppedLines: Counter?) {
        self.capacity = capacity
        self.format = format
        self.clock = clock
        self.sink = Locked(sink)
        self.droppedLines = droppedLines
    }

    func add(_ entry: LogEntry) {
        let mustRing = waiting.withLock { waiting in
            guard waiting.entries.count < capacity else {
                waiting.dropped += 1
                return false
            }
            waiting.entries.append(entry)
            defer { waiting.isAsleep = false }
            return waiting.isAsleep
        }
        if mustRing { bell.ring() }
    }

    /// Writes what waits, on the calling thread.
    func drain() {
        sink.withLock { sink in
            while true {
                let (entries, dropped) = waiting.withLock { waiting in
                    defer { (waiting.entries, waiting.dropped) = ([], 0) }
                    return (waiting.entries, waiting.dropped)
                }
                if entries.isEmpty, dropped == 0 { return }
                var lines = ""
                for entry in entries { lines += entry.line(format) + "\n" }
                if dropped > 0 {
                    droppedLines?.add(dropped)
                    let entry = LogEntry(
                        time: clock(), level: .error, event: "log lines dropped", fields: [.count(dropped)])
                    lines += entry.line(format) + "\n"
                }
                sink.write(lines)
            }
        }
    }

    func start() {
        thread.withLock { thread in
            var started = pthread_t()
            let context = unsafe Unmanaged.passRetained(self).toOpaque()
            let failure = unsafe pthread_create(&started, nil, runLogWriter, context)
            precondition(failure == 0, "no thread for the log: error \(failure)")
            thread = started
        }
    }

    /// Writes what waits and ends the thread.
    func close() {
        waiting.withLock { waiting in waiting.isClosed = true }
        bell.ring()
        let ended = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        if let ended { pthread_join(ended, nil) }
    }

    fileprivate func run() {
        while true {
            bell.wait()
            while true {
                let isClosed = waiting.withLock { waiting in waiting.isClosed }
                if !isClosed { pauseForMore() }
                drain()
                if isClosed { return }
                let isDone = waiting.withLock { waiting in
                    waiting.isAsleep = waiting.entries.isEmpty && waiting.dropped == 0 && !waiting.isClosed
                    return waiting.isAsleep
                }
                if isDone { break }
            }
        }
    }

    private func pauseForMore() {
        var pause = timespec(tv_sec: 0, tv_nsec: 4_000_000)
        unsafe nanosleep(&pause, nil)
    }
}

/// The thread's body; a function, since a closure written elsewhere might belong to an actor.
private func runLogWriter(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let context = unsafe context {
        unsafe Unmanaged<LogWriter>.fromOpaque(context).takeRetainedValue().run()
    }
    return nil
}

/// Wakes one waiting thread; a semaphore, which guards nothing.
@safe private final class Bell: @unchecked Sendable {
    // Unchecked because a semaphore may be used from every thread.
    private let semaphore: UnsafeMutablePointer<sem_t>

    init() {
        unsafe semaphore = .allocate(capacity: 1)
        unsafe sem_init(semaphore, 0, 0)
    }

    deinit {
        unsafe sem_destroy(semaphore)
        unsafe semaphore.deallocate()
    }

    func ring() { unsafe sem_post(semaphore) }

    func wait() {
        while unsafe sem_wait(semaphore) != 0 {}
    }
}
