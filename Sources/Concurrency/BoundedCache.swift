/// A dictionary that holds at most `capacity` values and forgets the least lately used one first.
///
/// Not shared by itself: put it in a ``Locked``. Look-up, insertion and removal take constant time. Inlinable, so that
/// other modules use it made for their types: several look-ups are part of every request.
public struct BoundedCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline
    struct Entry: Sendable {
        @usableFromInline let key: Key
        @usableFromInline var value: Value
        @usableFromInline var newer: Int
        @usableFromInline var older: Int

        @inlinable init(key: Key, value: Value) {
            self.key = key
            self.value = value
            newer = -1
            older = -1
        }
    }

    /// How many values it holds at most.
    public let capacity: Int
    @usableFromInline var slots: [Key: Int] = [:]
    @usableFromInline var entries: [Entry] = []
    @usableFromInline var newest = -1
    @usableFromInline var oldest = -1

    /// An empty cache; `capacity` is at least 1.
    @inlinable
    public init(capacity: Int) {
        precondition(capacity > 0, "a cache without room")
        self.capacity = capacity
    }

    /// How many values it holds.
    @inlinable public var count: Int { slots.count }

    /// The value of `key`, which counts as used now.
    @inlinable
    public mutating func value(for key: Key) -> Value? {
        guard let slot = slots[key] else { return nil }
        use(slot)
        return entries[slot].value
    }

    /// Stores `value`, in place of the least lately used one where the cache is full.
    @inlinable
    public mutating func insert(_ value: Value, for key: Key) {
        if let slot = slots[key] {
            entries[slot].value = value
            use(slot)
            return
        }
        let slot: Int
        if entries.count < capacity {
            slot = entries.count
            entries.append(Entry(key: key, value: value))
        } else {
            slot = oldest
            slots[entries[slot].key] = nil
            unlink(slot)
            entries[slot] = Entry(key: key, value: value)
        }
        slots[key] = slot
        linkNewest(slot)
    }

    /// Forgets the value of `key` and returns it.
    @inlinable
    @discardableResult
    public mutating func remove(_ key: Key) -> Value? {
        guard let slot = slots.removeValue(forKey: key) else { return nil }
        let value = entries[slot].value
        unlink(slot)
        // The last entry moves into the hole, so that the storage stays dense.
        let last = entries.count - 1
        if slot != last {
            let moved = entries[last]
            unlink(last)
            entries[slot] = moved
            slots[moved.key] = slot
            relink(slot, newer: moved.newer == slot ? -1 : moved.newer, older: moved.older == slot ? -1 : moved.older)
        }
        entries.removeLast()
        return value
    }

    /// Forgets every value that `isStale` names.
    @inlinable
    public mutating func removeAll(where isStale: (Key, Value) -> Bool) {
        for key in entries.filter({ isStale($0.key, $0.value) }).map(\.key) { remove(key) }
    }

    @inlinable
    mutating func use(_ slot: Int) {
        if slot == newest { return }
        unlink(slot)
        linkNewest(slot)
    }

    @inlinable
    mutating func unlink(_ slot: Int) {
        let (newer, older) = (entries[slot].newer, entries[slot].older)
        if newer >= 0 { entries[newer].older = older } else if newest == slot { newest = older }
        if older >= 0 { entries[older].newer = newer } else if oldest == slot { oldest = newer }
        entries[slot].newer = -1
        entries[slot].older = -1
    }

    @inlinable
    mutating func linkNewest(_ slot: Int) {
        relink(slot, newer: -1, older: newest)
    }

    @inlinable
    mutating func relink(_ slot: Int, newer: Int, older: Int) {
        entries[slot].newer = newer
        entries[slot].older = older
        if newer >= 0 { entries[newer].older = slot } else { newest = slot }
        if older >= 0 { entries[older].newer = slot } else { oldest = slot }
    }
}
