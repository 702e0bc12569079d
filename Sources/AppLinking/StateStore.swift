public import Foundation

/// Where states wait for their return: each is taken once.
public protocol StateStore: Sendable {
    /// Keeps `state` until it is taken, beside others that wait.
    func keep(_ state: String, since: Date) async throws
    /// Removes `state`, and says since when it was kept; nil where it is not here, also because it was taken before.
    func take(_ state: String) async throws -> Date?
}

/// States in memory: they are lost when the app ends, which iOS may do while the Alexa app is in front.
public actor MemoryStateStore: StateStore {
    private var states = WaitingStates()

    /// An empty store.
    public init() {}

    /// Keeps a state.
    public func keep(_ state: String, since: Date) { states.add(state, since: since) }

    /// Removes a state.
    public func take(_ state: String) -> Date? { states.remove(state) }
}

/// States in a file of the app, so that a return that starts the app anew still finds its state.
public actor FileStateStore: StateStore {
    private let url: URL

    /// A store in the file at `url`, such as one in the app's Application Support folder; it need not be there yet.
    public init(url: URL) { self.url = url }

    /// Keeps a state.
    ///
    /// - Throws: The system's error where the file cannot be written.
    public func keep(_ state: String, since: Date) throws {
        var states = read()
        states.add(state, since: since)
        try write(states)
    }

    /// Removes a state.
    ///
    /// - Throws: The system's error where the file cannot be written; the state then counts as not taken.
    public func take(_ state: String) throws -> Date? {
        var states = read()
        guard let since = states.remove(state) else { return nil }
        try write(states)
        return since
    }

    /// No file, or one that somebody broke, is one without states: the user starts the link again.
    private func read() -> WaitingStates {
        guard let data = try? Data(contentsOf: url) else { return WaitingStates() }
        return (try? JSONDecoder().decode(WaitingStates.self, from: data)) ?? WaitingStates()
    }

    private func write(_ states: WaitingStates) throws {
        try JSONEncoder().encode(states).write(to: url, options: .atomic)
    }
}

/// The states of links that the user has begun; only the last ones, since most that are older were given up.
struct WaitingStates: Codable {
    struct Entry: Codable {
        let state: String
        let since: Date
    }

    static let limit = 8
    private var entries: [Entry] = []

    mutating func add(_ state: String, since: Date) {
        entries.removeAll { $0.state == state }
        entries.append(Entry(state: state, since: since))
        entries.removeFirst(max(0, entries.count - Self.limit))
    }

    mutating func remove(_ state: String) -> Date? {
        guard let index = entries.firstIndex(where: { $0.state == state }) else { return nil }
        return entries.remove(at: index).since
    }
}
