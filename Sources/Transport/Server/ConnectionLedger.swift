internal import Concurrency
internal import Telemetry

/// How many connections a server has, over all loops and from each address.
final class ConnectionLedger: Sendable {
    enum Verdict { case welcome, answered503, dropped }

    private struct Counts {
        var open = 0
        var byPeer: [String: Int] = [:]
    }

    private let counts = Locked(Counts())
    private let limits: ServerLimits
    private let openConnections: Gauge

    init(limits: ServerLimits, metrics: Metrics) {
        self.limits = limits
        openConnections = metrics.gauge(.connectionsOpen)
    }

    /// Counts a connection, unless it is to be dropped.
    func add(_ peerAddress: String) -> Verdict {
        let verdict: Verdict = counts.withLock { counts in
            // Those that are refused politely are few, so that a flood of them costs nothing.
            guard counts.open < limits.connections + politeRefusals else { return .dropped }
            var isWelcome = counts.open < limits.connections
            if let limit = limits.connectionsPerPeer {
                let open = counts.byPeer[peerAddress, default: 0]
                if open >= limit + politeRefusals { return .dropped }
                isWelcome = isWelcome && open < limit
                counts.byPeer[peerAddress] = open + 1
            }
            counts.open += 1
            return isWelcome ? .welcome : .answered503
        }
        if verdict != .dropped { openConnections.add(1) }
        return verdict
    }

    /// Takes a connection off.
    func remove(_ peerAddress: String) {
        counts.withLock { counts in
            counts.open -= 1
            guard limits.connectionsPerPeer != nil, let open = counts.byPeer[peerAddress] else { return }
            counts.byPeer[peerAddress] = open > 1 ? open - 1 : nil
        }
        openConnections.add(-1)
    }
}

/// How many connections beyond the limit get an answer.
private let politeRefusals = 64
