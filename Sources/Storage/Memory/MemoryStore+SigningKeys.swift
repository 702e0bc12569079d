import Concurrency
public import OAuth
public import Time

extension MemoryStore: SigningKeyStore {
    /// Every key that is stored, oldest first.
    public func signingKeys() async throws -> [SigningKeyRecord] {
        state.withLock { state in state.sortedSigningKeys }
    }

    /// Stores `key` where no key is stored; says what is stored afterwards.
    public func insertFirstSigningKey(_ key: SigningKeyRecord) async throws -> [SigningKeyRecord] {
        state.withLock { state in
            if state.signingKeys.isEmpty {
                state.signingKeys = [key.id: key]
                state.provider.changes += 1
            }
            return state.sortedSigningKeys
        }
    }

    /// Adds `key` and lets every other key be published until `othersUntil` at most.
    public func addSigningKey(_ key: SigningKeyRecord, othersUntil: UnixTime) async throws {
        state.withLock { state in
            for id in state.signingKeys.keys {
                let end = state.signingKeys[id]?.publishedUntil
                state.signingKeys[id]?.publishedUntil = min(end ?? othersUntil, othersUntil)
            }
            state.signingKeys[key.id] = key
            state.provider.changes += 1
        }
    }

    /// Deletes the keys whose publication ended before `moment`.
    public func removeSigningKeys(endedBefore moment: UnixTime) async throws {
        state.withLock { state in
            state.signingKeys = state.signingKeys.filter { key in
                key.value.publishedUntil.map { $0 >= moment } ?? true
            }
        }
    }
}

extension MemoryStore.State {
    fileprivate var sortedSigningKeys: [SigningKeyRecord] {
        signingKeys.values.sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
    }
}
