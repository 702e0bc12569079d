import Concurrency

/// A wait that somebody can end early.
final class Wakeup: Sendable {
    private struct State {
        var isPending = false
        var sleeper: Task<Void, Never>?
    }

    private let state = Locked(State())

    /// Ends the wait that goes on, or the next one.
    func wake() {
        let sleeper = state.withLock { state -> Task<Void, Never>? in
            if state.sleeper == nil { state.isPending = true }
            return state.sleeper
        }
        sleeper?.cancel()
    }

    /// Waits for `duration`, until somebody wakes it or the task is cancelled.
    func wait(_ duration: Duration) async {
        let sleeper = state.withLock { state -> Task<Void, Never>? in
            guard !state.isPending else {
                state.isPending = false
                return nil
            }
            let sleeper = Task { () -> Void in try? await Task.sleep(for: duration) }
            state.sleeper = sleeper
            return sleeper
        }
        guard let sleeper else { return }
        await withTaskCancellationHandler {
            await sleeper.value
        } onCancel: {
            sleeper.cancel()
        }
        state.withLock { $0.sleeper = nil }
    }
}
