public import Alexa
public import HTTP
import JSON
import OAuth
public import Telemetry
public import Time

/// `POST /v1/events`: the provider tells what happened to a device, and Alexa is told later.
///
/// All events of a call are taken or none: they are in the store before the answer leaves, and are sent from there.
public struct EventsEndpoint: Sendable {
    /// The path.
    public static let path = "/v1/events"

    private let authentication: ClientAuthentication
    private let outbox: any Outbox & EndpointIDStore
    private let clock: WallClock
    private let now: @Sendable () -> ContinuousClock.Instant
    private let log: Log
    private let metrics: Metrics
    private let jsonDepth: Int
    private let posted: @Sendable () -> Void

    /// The endpoint.
    ///
    /// - Parameters:
    ///   - authentication: proves which back end calls.
    ///   - outbox: keeps what is to be sent, and device ids that are too long for Alexa.
    ///   - clock: the time of day.
    ///   - now: the monotonic clock.
    ///   - log: gets a line a call that is refused.
    ///   - metrics: counts events that had to go for newer ones.
    ///   - jsonDepth: how deep a body may be nested.
    ///   - posted: told of every call that brought something to send; must not wait.
    public init(
        authentication: ClientAuthentication, outbox: any Outbox & EndpointIDStore, clock: @escaping WallClock,
        now: @escaping @Sendable () -> ContinuousClock.Instant, log: Log, metrics: Metrics, jsonDepth: Int = 64,
        posted: @escaping @Sendable () -> Void
    ) {
        self.authentication = authentication
        self.outbox = outbox
        self.clock = clock
        self.now = now
        self.log = log
        self.metrics = metrics
        self.jsonDepth = jsonDepth
        self.posted = posted
    }

    /// Where it is reached.
    public var route: Route {
        Route(.post, Self.path, timeLimit: .seconds(7), mediaType: "application/json") { request, _ in
            await respond(to: request)
        }
    }

    /// 202 where every event is in the store.
    public func respond(to request: HTTPRequest) async -> HTTPResponse {
        switch await authentication.outcome(for: request, role: .events) {
        case .refusal(let answer): return answer
        case .client: break
        }
        do throws(EventsFailure) {
            let events = try events(in: request.body)
            try await keepIDs(of: events, by: request.deadline)
            try await post(events, by: request.deadline)
            return HTTPResponse(json: ["accepted": .integer(Int64(events.count))], status: 202)
        } catch {
            return answer(to: error)
        }
    }

    private func events(in body: [UInt8]) throws(EventsFailure) -> [PostedEvent] {
        let json: JSONValue
        do throws(JSONError) {
            json = try JSONDocument(parsing: body, maximumDepth: jsonDepth).root.value
        } catch { throw .notJSON(error.reason) }
        do throws(DeviceFault) { return try EventReader(now: clock()).events(json) } catch { throw .member(error) }
    }

    /// Ids that Alexa gets as digests lead back to the device only where they are kept.
    private func keepIDs(of events: [PostedEvent], by deadline: Deadline) async throws(EventsFailure) {
        for id in Set(events.map(\.deviceID)) {
            guard let digest = EndpointID.keptDigest(of: id) else { continue }
            do throws(OutboxError) { try await outbox.keep(digest: digest, deviceID: id, by: deadline) } catch {
                throw .store(error)
            }
        }
    }

    private func post(_ events: [PostedEvent], by deadline: Deadline) async throws(EventsFailure) {
        guard !events.isEmpty else { return }
        do throws(OutboxError) {
            let outcome = try await outbox.post(events, by: deadline)
            if outcome.rows > 0 { posted() }
            if outcome.dropped > 0 {
                metrics.counter(.eventsDropped, "events.laneFull").add(outcome.dropped)
                log.notice("a full lane lost its oldest changes", .count(outcome.dropped))
            }
        } catch .tooLarge(let index) {
            throw .member(DeviceFault(path: "[\(index)]", problem: "larger than the outbox takes"))
        } catch {
            throw .store(error)
        }
    }

    private func answer(to failure: EventsFailure) -> HTTPResponse {
        let traceID = TraceID.random()
        switch failure {
        case .notJSON(let reason):
            return problem(400, "events.notJSON", reason, traceID)
        case .member(let fault):
            let detail = fault.path.isEmpty ? fault.problem : "\(fault.path): \(fault.problem)"
            return problem(400, "events.member", detail, traceID)
        case .store(let error):
            if case .unavailable(let reason) = error {
                log.error("events not stored", .traceID(traceID), .detail(reason))
            }
            var response = problem(503, "events.store", "The events could not be stored now", traceID)
            response.fields["Retry-After"] = "5"
            return response
        }
    }

    private func problem(_ status: Int, _ code: String, _ detail: String, _ traceID: TraceID) -> HTTPResponse {
        log.info("events are refused", .traceID(traceID), .rejection(code), .detail(detail))
        return Problem(status: status, code: code, detail: detail, traceID: traceID).response
    }
}

/// Why events were not taken.
private enum EventsFailure: Error {
    case notJSON(String)
    case member(DeviceFault)
    case store(OutboxError)
}
