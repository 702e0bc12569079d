internal import Concurrency
internal import Glibc

/// The loops of a process, one a thread.
public final class EventLoopGroup: Sendable {
    /// The loops.
    public let loops: [EventLoop]
    private let turn = Locked(0)

    /// Starts `threads` loops; zero stands for one a core.
    ///
    /// - Throws: ``EventLoopError`` where the system gives no descriptor or thread.
    public init(threads: Int = 0) throws(EventLoopError) {
        // A peer that went away is an error of the write, not a signal that ends the process.
        signal(SIGPIPE, SIG_IGN)
        let count = threads > 0 ? threads : max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        var loops: [EventLoop] = []
        do {
            for index in 0..<count { loops.append(try EventLoop(name: "loop-\(index)")) }
        } catch {
            for loop in loops { loop.shutdown() }
            throw error
        }
        self.loops = loops
    }

    /// The loop whose turn it is; callers spread over all.
    public func next() -> EventLoop {
        let index = turn.withLock { turn in
            turn = (turn + 1) % loops.count
            return turn
        }
        return loops[index]
    }

    /// Ends every loop's thread, and waits for that; not to be called on a loop.
    ///
    /// Servers and clients on the loops are shut down before.
    public func shutdown() {
        for loop in loops { loop.shutdown() }
    }
}
