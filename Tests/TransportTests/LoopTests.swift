import Concurrency
import Glibc
import Testing
import Transport

@Suite("Event loops", .timeLimit(.minutes(5))) struct LoopTests {
    /// Runs `body` with one loop, and ends the loop.
    func withLoop<Result>(_ body: (EventLoop) async throws -> Result) async throws -> Result {
        let group = try EventLoopGroup(threads: 1)
        defer { group.shutdown() }
        return try await body(group.next())
    }

    @Test("jobs of several threads run on the loop, each caller's in its order")
    func jobsInOrder() async throws {
        let seen = Locked<[Int: [Int]]>([:])
        let strays = Locked(0)
        try await withLoop { loop in
            await withTaskGroup(of: Void.self) { group in
                for caller in 0..<4 {
                    group.addTask {
                        for number in 0..<500 {
                            loop.execute {
                                if EventLoop.current !== loop { strays.withLock { $0 += 1 } }
                                seen.withLock { $0[caller, default: []].append(number) }
                            }
                        }
                    }
                }
            }
        }
        #expect(strays.withLock { $0 } == 0)
        #expect(seen.withLock { $0 } == Dictionary(uniqueKeysWithValues: (0..<4).map { ($0, Array(0..<500)) }))
    }

    @Test("no job waits for the next one: callers that each wait for their own all get on")
    func noLostWake() async throws {
        try await withLoop { loop in
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        for _ in 0..<4_000 {
                            await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
                                loop.execute { done.resume() }
                            }
                        }
                    }
                }
            }
        }
    }

    @Test("a job added on the loop runs after the job that adds it")
    func addedOnTheLoop() async throws {
        let order = try await withLoop { loop in
            await withCheckedContinuation { (done: CheckedContinuation<[String], Never>) in
                let order = Locked<[String]>([])
                loop.execute {
                    loop.execute {
                        order.withLock { $0.append("inner") }
                        done.resume(returning: order.withLock { $0 })
                    }
                    order.withLock { $0.append("outer") }
                }
            }
        }
        #expect(order == ["outer", "inner"])
    }

    @Test("no thread but a loop's has a current loop") func current() async throws {
        #expect(EventLoop.current == nil)
        let group = try EventLoopGroup(threads: 2)
        defer { group.shutdown() }
        #expect(group.next() !== group.next())
        #expect(!group.loops[0].isCurrent)
    }

    @Test("a loop that was shut down runs nothing, and says so") func afterShutdown() throws {
        let group = try EventLoopGroup(threads: 1)
        let ran = Locked(false)
        group.shutdown()
        #expect(!group.next().execute { ran.withLock { $0 = true } })
        #expect(!ran.withLock { $0 })
        group.shutdown()
    }

    @Test("timers fire once, in the order of their delays; a stopped one does not") func timers() async throws {
        let fired = try await withLoop { loop in
            await withCheckedContinuation { (done: CheckedContinuation<[String], Never>) in
                loop.execute {
                    let fired = Locked<[String]>([])
                    let stopped = LoopTimer(on: loop) { fired.withLock { $0.append("stopped") } }
                    stopped.start(after: .milliseconds(1))
                    LoopTimer(on: loop) { fired.withLock { $0.append("late") } }.start(after: .milliseconds(20))
                    LoopTimer(on: loop) { fired.withLock { $0.append("early") } }.start(after: .zero)
                    let moved = LoopTimer(on: loop) { fired.withLock { $0.append("moved") } }
                    moved.start(after: .seconds(100))
                    moved.start(after: .milliseconds(5))
                    stopped.stop()
                    #expect(!stopped.isRunning && moved.isRunning)
                    let last = LoopTimer(on: loop) { done.resume(returning: fired.withLock { $0 }) }
                    last.start(after: .milliseconds(60))
                }
            }
        }
        #expect(fired == ["early", "moved", "late"])
    }

    @Test("a timer can be started again from its own action") func repeatedTimer() async throws {
        let count = try await withLoop { loop in
            await withCheckedContinuation { (done: CheckedContinuation<Int, Never>) in
                loop.execute {
                    final class Holder { var timer: LoopTimer?; var count = 0 }
                    let holder = Holder()
                    holder.timer = LoopTimer(on: loop) {
                        holder.count += 1
                        if holder.count < 3 {
                            holder.timer?.start(after: .zero)
                        } else {
                            holder.timer = nil
                            done.resume(returning: holder.count)
                        }
                    }
                    holder.timer?.start(after: .zero)
                }
            }
        }
        #expect(count == 3)
    }

    @Test("a watcher tells of room and of bytes, and can be stopped and dropped in its own action")
    func watcher() async throws {
        var ends: [CInt] = [0, 0]
        let made = unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends)
        try #require(made == 0)
        let (near, far) = (ends[0], ends[1])
        defer {
            close(near)
            close(far)
        }
        let seen = try await withLoop { loop in
            await withCheckedContinuation { (done: CheckedContinuation<[SocketWatcher.Interest], Never>) in
                loop.execute {
                    final class Holder { var watcher: SocketWatcher?; var seen: [SocketWatcher.Interest] = [] }
                    let holder = Holder()
                    holder.watcher = SocketWatcher(on: loop, descriptor: near) { ready in
                        holder.seen.append(ready)
                        if ready == .write {
                            holder.watcher?.watch(.read)
                            unsafe send(far, "x", 1, 0)
                            return
                        }
                        holder.watcher?.stop()
                        holder.watcher = nil
                        // It would tell again, were it still watching: the byte was not taken.
                        LoopTimer(on: loop) { done.resume(returning: holder.seen) }.start(after: .milliseconds(10))
                    }
                    holder.watcher?.watch([.read, .write])
                }
            }
        }
        #expect(seen == [.write, .read])
    }

    @Test("a task that was started on a loop and waited goes on there") func executor() async throws {
        let places = try await withLoop { loop in
            await withCheckedContinuation { (done: CheckedContinuation<[Bool], Never>) in
                loop.execute {
                    Task.immediate(executorPreference: loop) {
                        let before = loop.isCurrent
                        await Task.yield()
                        let after = loop.isCurrent
                        done.resume(returning: [before, after])
                    }
                }
            }
        }
        #expect(places == [true, true])
    }
}
