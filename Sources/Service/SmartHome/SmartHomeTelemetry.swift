import Alexa
import Telemetry
import Time

/// What is known of a directive so far, for its log line and its trace.
struct SmartHomeProgress {
    let trace: Trace
    let start: ContinuousClock.Instant
    var skill: String?
    var region: String?
    /// The directive's namespace and name.
    var directive: String?
    var messageID: String?
    /// What the answer repeats, as far as it could be read.
    var echo = DirectiveEcho()
    /// The first digits of the hash of an AcceptGrant's code, by which its lines can be found.
    var codeHash: String?

    init(startedAt: UnixTime, start: ContinuousClock.Instant) {
        trace = Trace(.smartHome, startedAt: startedAt, start: start)
        self.start = start
    }

    fileprivate func fields(at end: ContinuousClock.Instant) -> [LogField] {
        let (seconds, attoseconds) = start.duration(to: end).components
        let milliseconds = Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000)
        return [
            messageID.map(LogField.requestID), skill.map(LogField.skill), region.map(LogField.region),
            directive.map(LogField.requestType), codeHash.map(LogField.codeHash),
            .durationMilliseconds(milliseconds),
        ].compactMap(\.self)
    }
}

/// What an operator learns of directives: one line each, counters, and a trace of what was refused or failed.
struct SmartHomeTelemetry: Sendable {
    let log: Log
    let metrics: Metrics
    let drift: ClockDrift
    let traces: TraceRecorder?

    func answered(_ progress: SmartHomeProgress, end: ContinuousClock.Instant) {
        count(progress)
        if let traces, traces.wantsAll { traces.finish(progress.trace.record(.ok, end: end)) }
        guard log.isOn(.info) else { return }
        log.write(.info, "directive answered", progress.fields(at: end))
    }

    func failed(_ failure: SmartHomeFailure, _ progress: SmartHomeProgress, end: ContinuousClock.Instant) {
        let reason = failure.reasonCode
        let trace = progress.trace
        switch failure {
        case .unproven(let rejection):
            metrics.counter(.rejections, reason).add()
            if case .forwarderStale(let milliseconds) = rejection {
                drift.refused(differenceSeconds: Int(clamping: milliseconds / 1000), at: end)
            }
        case .query, .refused: metrics.counter(.rejections, reason).add()
        case .token: metrics.counter(.tokenRejections, reason).add()
        case .schema, .tooLong: metrics.counter(.invalidAnswers, reason).add()
        case .resource, .endpointUnknown, .store, .grant: break
        }
        count(progress)
        if let skill = progress.skill { trace.note("skill", skill) }
        if let region = progress.region { trace.note("region", region) }
        if let directive = progress.directive { trace.note("directive", directive) }
        if let messageID = progress.messageID { trace.note("messageID", messageID) }
        if let codeHash = progress.codeHash { trace.note("codeHash", codeHash) }
        if let detail = failure.detail { trace.note("detail", detail) }
        var fields: [LogField] = [.traceID(trace.id), .rejection(reason)] + progress.fields(at: end)
        if let detail = failure.detail { fields.append(.detail(detail)) }
        log.write(failure.isFault ? .error : .notice, "directive refused", fields)
        traces?.finish(trace.record(failure.isFault ? .failed : .refused, reason: reason, end: end))
    }

    private func count(_ progress: SmartHomeProgress) {
        guard let skill = progress.skill, let directive = progress.directive else { return }
        metrics.counter(.skillRequests, skill, directive).add()
    }
}
