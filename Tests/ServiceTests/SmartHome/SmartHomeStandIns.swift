import Alexa
import Concurrency
import Time

/// Holds whoever passes until it is opened or one of them is cancelled, and tells when somebody has arrived.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var hasArrived = false
        var held: [CheckedContinuation<Void, Never>] = []
        var watching: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())

    func pass() async {
        await withTaskCancellationHandler {
            await held()
        } onCancel: {
            open()
        }
    }

    private func held() async {
        await withCheckedContinuation { continuation in
            let (watching, isOpen) = state.withLock { state in
                defer { state.watching = [] }
                state.hasArrived = true
                if !state.isOpen { state.held.append(continuation) }
                return (state.watching, state.isOpen)
            }
            for watcher in watching { watcher.resume() }
            if isOpen { continuation.resume() }
        }
    }

    func arrived() async {
        await withCheckedContinuation { continuation in
            let hasArrived = state.withLock { state in
                if !state.hasArrived { state.watching.append(continuation) }
                return state.hasArrived
            }
            if hasArrived { continuation.resume() }
        }
    }

    func open() {
        let held = state.withLock { state in
            defer { state.held = [] }
            state.isOpen = true
            return state.held
        }
        for continuation in held { continuation.resume() }
    }
}

/// A store that never does what is asked.
struct BrokenGrantStore: GrantStore {
    let error: GrantStoreError

    func probeWriting(by deadline: Deadline) async throws(GrantStoreError) { throw error }
    func rememberGateway(
        _ region: AlexaRegion, grant key: GrantKey, version: Int64, by deadline: Deadline
    ) async throws(GrantStoreError) -> Bool { throw error }
    func nextGrantSequence(by deadline: Deadline) async throws(GrantStoreError) -> Int64 { throw error }
    func put(
        _ credentials: AmazonCredentials, for key: GrantKey, sequence: Int64, by deadline: Deadline
    ) async throws(GrantStoreError) -> Bool { throw error }
    func grant(_ key: GrantKey, by deadline: Deadline) async throws(GrantStoreError) -> Grant? { throw error }
    func grants(of subject: String, by deadline: Deadline) async throws(GrantStoreError) -> [Grant] { throw error }
    func deleteGrant(_ key: GrantKey, by deadline: Deadline) async throws(GrantStoreError) -> Bool { throw error }
    func deleteGrant(
        _ key: GrantKey, version: Int64, by deadline: Deadline
    ) async throws(GrantStoreError) -> Bool { throw error }
    func deleteGrants(
        of subject: String, skill: String?, by deadline: Deadline
    ) async throws(GrantStoreError) -> Int { throw error }
    func setSuspended(
        _ isSuspended: Bool, grant key: GrantKey, version: Int64, by deadline: Deadline
    ) async throws(GrantStoreError) -> Bool { throw error }
    func leaseGrant(
        _ key: GrantKey, owner: String, for duration: Duration, by deadline: Deadline
    ) async throws(GrantStoreError) -> GrantLease { throw error }
    func refresh(
        _ key: GrantKey, with credentials: AmazonCredentials, owner: String, version: Int64, by deadline: Deadline
    ) async throws(GrantStoreError) -> Bool { throw error }
    func releaseGrant(_ key: GrantKey, owner: String, by deadline: Deadline) async throws(GrantStoreError) {
        throw error
    }
    func claimAcceptGrant(
        codeHash: String, subject: String, owner: String, for duration: Duration, by deadline: Deadline
    ) async throws(GrantStoreError) -> AcceptGrantClaim { throw error }
    func finishAcceptGrant(
        codeHash: String, owner: String, result: AcceptGrantResult, by deadline: Deadline
    ) async throws(GrantStoreError) -> Bool { throw error }
}
