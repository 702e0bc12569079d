import Service
import Storage
import Telemetry
import Time
import Transport

extension Program {
    /// Makes the service over its store, without listening anywhere, for what a command does once.
    ///
    /// The log goes to standard error.
    ///
    /// - Throws: what `body` throws; ``ProgramFault`` where the store cannot be used.
    static func withService<Value: Sendable>(
        _ configuration: Configuration, _ body: (MadeService, SQLiteStore) async throws -> Value
    ) async throws -> Value {
        let clock = SystemClock.clock(offsetSeconds: configuration.clockOffsetSeconds)
        let metrics = Metrics()
        let log = Log(
            level: configuration.log.level, format: configuration.log.format, clock: clock,
            sink: DescriptorSink.standardError, metrics: metrics)
        let store = try StoreOpening.open(configuration, clock: clock)
        let group: EventLoopGroup
        do { group = try EventLoopGroup(threads: 1) } catch { throw ProgramFault("no event loop: \(error)") }
        let client = CurlClient(group: group, configuration: Self.client(configuration))
        let result: Result<Value, any Error>
        do {
            let made: MadeService
            do {
                made = try await makeService(
                    configuration, ServiceParts(store: store, http: client, clock: clock, log: log, metrics: metrics))
            } catch { throw ProgramFault("the service cannot be made: \(error)") }
            result = .success(try await body(made, store))
        } catch { result = .failure(error) }
        await client.shutdown()
        group.shutdown()
        log.flush()
        return try result.get()
    }

    /// Sends the events that are due and looks at pending links.
    ///
    /// - Throws: ``ProgramFault`` where the store cannot be used.
    static func flushEvents(_ configuration: Configuration) async throws -> FlushPass {
        try await withService(configuration) { made, _ in
            do {
                return FlushPass(events: try await made.events.flush(), links: try await made.links.flush())
            } catch { throw ProgramFault("the store does not answer: \(error)") }
        }
    }
}

/// What one pass over everything that waits has done.
struct FlushPass: Sendable {
    let events: FlushReport
    /// How many pending links Alexa was asked of.
    let links: Int
}
