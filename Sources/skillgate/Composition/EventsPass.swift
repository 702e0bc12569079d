import Alexa
import Service
import Storage
import Telemetry
import Time
import Transport

extension Program {
    /// Sends the events that are due and looks at pending links, without listening anywhere.
    ///
    /// - Throws: ``ProgramFault`` where the store cannot be used.
    static func flushEvents(_ configuration: Configuration) async throws(ProgramFault) -> FlushPass {
        let clock = SystemClock.clock(offsetSeconds: configuration.clockOffsetSeconds)
        let metrics = Metrics()
        let log = Log(
            level: configuration.log.level, format: configuration.log.format, clock: clock,
            sink: DescriptorSink.standardError, metrics: metrics)
        let store = try StoreOpening.open(configuration, clock: clock)
        let group: EventLoopGroup
        do { group = try EventLoopGroup(threads: 1) } catch { throw ProgramFault("no event loop: \(error)") }
        let client = CurlClient(group: group, configuration: Self.client(configuration))
        let pass: Result<FlushPass, ProgramFault>
        do throws(ProgramFault) {
            pass = .success(
                try await Self.flush(
                    configuration,
                    ServiceParts(store: store, http: client, clock: clock, log: log, metrics: metrics)))
        } catch { pass = .failure(error) }
        await client.shutdown()
        group.shutdown()
        log.flush()
        return try pass.get()
    }

    private static func flush(
        _ configuration: Configuration, _ parts: ServiceParts
    ) async throws(ProgramFault) -> FlushPass {
        let made: MadeService
        do { made = try await makeService(configuration, parts) } catch {
            throw ProgramFault("the service cannot be made: \(error)")
        }
        do {
            return FlushPass(events: try await made.events.flush(), links: try await made.links.flush())
        } catch { throw ProgramFault("the store does not answer: \(error)") }
    }
}

/// What one pass over everything that waits has done.
struct FlushPass: Sendable {
    let events: FlushReport
    /// How many pending links Alexa was asked of.
    let links: Int
}
