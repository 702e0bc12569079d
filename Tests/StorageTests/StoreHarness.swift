import Alexa
import Crypto
import FoundationEssentials
import Glibc
import OAuth
import Storage
import Telemetry
import TestSupport
import Testing
import Time

/// The two stores that must behave alike.
enum StoreKind: String, CaseIterable, CustomTestStringConvertible {
    case memory
    case sqlite

    var testDescription: String { rawValue }

    typealias Store = GrantStore & Outbox & EndpointIDStore & SigningKeyStore & ProviderStore & UserStore & TraceStore
        & LinkStore

    /// What processes that share a store see: one store in memory, several on the same file.
    func withShared<Value>(
        _ count: Int, _ body: ([any Store], ManualClock) async throws -> Value
    ) async throws -> Value {
        let clock = ManualClock()
        switch self {
        case .memory:
            return try await body(Array(repeating: MemoryStore(clock: clock.wall), count: count), clock)
        case .sqlite:
            return try await withFolder { folder in
                let keys = try TestKeys.keys(TestKeys.first)
                let stores = try (0..<count).map { _ in
                    try SQLiteStore(url: "sqlite:\(folder)/store.sqlite", keys: keys, clock: clock.wall)
                }
                return try await body(stores, clock)
            }
        }
    }

    /// A new store whose clock stands still until the test moves it.
    func with<Value>(_ body: (any Store, ManualClock) async throws -> Value) async throws -> Value {
        let clock = ManualClock()
        switch self {
        case .memory: return try await body(MemoryStore(clock: clock.wall), clock)
        case .sqlite:
            return try await withFolder { folder in
                let store = try SQLiteStore(
                    url: "sqlite:\(folder)/store.sqlite", keys: try TestKeys.keys(TestKeys.first), clock: clock.wall)
                return try await body(store, clock)
            }
        }
    }
}

/// Keys for sealing, 32 bytes each.
enum TestKeys {
    static let first = Base64.encode([UInt8](repeating: 1, count: 32))
    static let second = Base64.encode([UInt8](repeating: 2, count: 32))

    static func keys(_ lines: String...) throws(StorageError) -> SealingKeys {
        try SealingKeys(text: Secret(lines.joined(separator: "\n")), origin: "test")
    }
}

/// A folder that is there while `body` runs.
func withFolder<Value>(_ body: (String) async throws -> Value) async throws -> Value {
    let folder = FileManager.default.temporaryDirectory.path + "/skillgate-\(SecureRandom.token(bytes: 9))"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    return try await body(folder)
}

/// A deadline that no test reaches.
var soon: Deadline { .after(.seconds(600), from: .now) }

func credentials(_ name: String) -> AmazonCredentials {
    AmazonCredentials(
        accessToken: Secret("Atza|access-\(name)"), refreshToken: Secret("Atzr|refresh-\(name)"),
        expiresAt: UnixTime(seconds: 1_736_938_800))
}

func key(
    _ source: GrantKey.Source = .events, subject: String = "u1", skill: String = "home",
    region: AlexaRegion = .europe, amazonUserID: String? = nil, providerGrantID: String? = nil
) -> GrantKey {
    GrantKey(
        source: source, subject: subject, skill: skill, region: region, amazonUserID: amazonUserID,
        providerGrantID: providerGrantID)
}

/// Ends this process as a power cut would: nothing is flushed or closed.
func killThisProcess() {
    kill(getpid(), SIGKILL)
}
