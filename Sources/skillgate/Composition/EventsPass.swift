import Alexa
import Service
import Storage
import Telemetry
import Time
import Transport

extension Program {
    /// Sends the events that are due, without listening anywhere.
    ///
    /// - Throws: ``ProgramFault`` where the store cannot be used.
    static func flushEvents(_ configuration: Configuration) async throws(ProgramFault) -> FlushReport {
        let clock = SystemClock.clock(offsetSeconds: configuration.clockOffsetSeconds)
        let metrics = Metrics()
        let log = Log(
            level: configuration.log.level, format: configuration.log.format, clock: clock,
            sink: DescriptorSink.standardError, metrics: metrics)
        let store = try StoreOpening.open(configuration, clock: clock)
        let group: EventLoopGroup
        do { group = try EventLoopGroup(threads: 1) } catch { throw ProgramFault("no event loop: \(error)") }
        let client = CurlClient(group: group, configuration: Self.client(configuration))
        let worker = makeEventWorker(
            configuration, ServiceParts(store: store, http: client, clock: clock, log: log, metrics: metrics))
        let report: Result<FlushReport, OutboxError>
        do throws(OutboxError) { report = .success(try await worker.flush()) } catch { report = .failure(error) }
        await client.shutdown()
        group.shutdown()
        log.flush()
        do throws(OutboxError) { return try report.get() } catch {
            throw ProgramFault("the outbox does not answer: \(error)")
        }
    }
}
