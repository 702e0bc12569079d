/// Runs one operation a key at a time; who asks meanwhile gets the same outcome.
///
/// The operation belongs to no single caller: it runs in a task of its own, with whatever limits it sets itself, and
/// a caller that is cancelled stops waiting while the others go on.
public final class SingleFlight<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private typealias Outcome = Result<Value, any Error>

    private struct Flight {
        var waiting: [Int: CheckedContinuation<Value, any Error>] = [:]
    }

    private enum Step { case start, wait, cancelled }

    private struct State {
        var flights: [Key: Flight] = [:]
        var cancelled: Set<Int> = []
        var nextTicket = 0
    }

    private let state = Locked(State())

    /// Nothing in flight.
    public init() {}

    /// The outcome of `operation`, started here or already in flight for `key`.
    ///
    /// - Throws: what the operation throws; `CancellationError` where the caller was cancelled.
    public func run(
        _ key: Key, _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let ticket = state.withLock { state in
            state.nextTicket += 1
            return state.nextTicket
        }
        // A cancellation that came too late to stop the wait leaves its ticket behind.
        defer { _ = state.withLock { state in state.cancelled.remove(ticket) } }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let step: Step = state.withLock { state in
                    if state.cancelled.remove(ticket) != nil { return .cancelled }
                    let isFirst = state.flights[key] == nil
                    state.flights[key, default: Flight()].waiting[ticket] = continuation
                    return isFirst ? .start : .wait
                }
                switch step {
                case .cancelled: continuation.resume(throwing: CancellationError())
                case .wait: break
                case .start: start(key, operation)
                }
            }
        } onCancel: {
            let continuation = state.withLock { state -> CheckedContinuation<Value, any Error>? in
                if let waiting = state.flights[key]?.waiting.removeValue(forKey: ticket) { return waiting }
                state.cancelled.insert(ticket)
                return nil
            }
            continuation?.resume(throwing: CancellationError())
        }
    }

    private func start(_ key: Key, _ operation: @escaping @Sendable () async throws -> Value) {
        Task {
            let outcome: Outcome
            do { outcome = .success(try await operation()) } catch { outcome = .failure(error) }
            let waiting = self.state.withLock { state in state.flights.removeValue(forKey: key)?.waiting ?? [:] }
            for continuation in waiting.values { continuation.resume(with: outcome) }
        }
    }
}
