import Alexa
import OAuth
import Telemetry
import Time

/// How far a request came, and when; a trace is made of it only where one is kept.
struct SkillProgress {
    let startedAt: UnixTime
    let start: ContinuousClock.Instant
    var verified: ContinuousClock.Instant?
    var decoded: ContinuousClock.Instant?
    var judged: ContinuousClock.Instant?
    var subject: String?

    init(startedAt: UnixTime, start: ContinuousClock.Instant) {
        self.startedAt = startedAt
        self.start = start
    }

    /// The steps that went well, and the one that did not.
    func trace(_ outcome: TraceOutcome, reason: String?, at end: ContinuousClock.Instant) -> Trace {
        let trace = Trace(.custom, startedAt: startedAt, start: start)
        let steps: [(StaticString, ContinuousClock.Instant?)] = [
            ("verification", verified), ("decoding", decoded), ("account", judged),
        ]
        var begin = start
        for (name, stepEnd) in steps {
            if let stepEnd {
                trace.step(name, .ok, from: begin, to: stepEnd)
                begin = stepEnd
            } else if name.description != "account" || reason?.hasPrefix("token.") == true {
                trace.step(name, outcome, reason: reason, from: begin, to: end)
                return trace
            }
        }
        trace.step("answer", outcome, reason: reason, from: begin, to: end)
        return trace
    }

    func milliseconds(to end: ContinuousClock.Instant) -> Int {
        let (seconds, attoseconds) = start.duration(to: end).components
        return Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000)
    }
}

/// What an operator learns of custom-skill requests: one line each, counters, and a trace of what was refused or failed.
struct SkillTelemetry: Sendable {
    let log: Log
    let metrics: Metrics
    let drift: ClockDrift
    let traces: TraceRecorder?

    func answered(
        _ envelope: RequestEnvelope, _ skill: Skill, _ progress: SkillProgress, end: ContinuousClock.Instant
    ) {
        metrics.counter(.skillRequests, skill.name, envelope.countedType).add()
        log.info(
            "skill request answered", .requestID(envelope.header.requestID), .skill(skill.name),
            .requestType(envelope.header.type), envelope.intentName.map { .intent($0) },
            envelope.locale.map { .locale($0) }, .durationMilliseconds(progress.milliseconds(to: end)))
        guard let traces, traces.wantsAll else { return }
        let trace = progress.trace(.ok, reason: nil, at: end)
        trace.note("requestID", envelope.header.requestID)
        if let subject = progress.subject { trace.belongs(to: subject) }
        traces.finish(trace.record(.ok, end: end))
    }

    func rejected(_ rejection: RequestRejection, _ progress: SkillProgress, end: ContinuousClock.Instant) {
        let reason = rejection.reasonCode
        metrics.counter(.rejections, reason).add()
        if case .stale(let milliseconds) = rejection {
            drift.refused(differenceSeconds: Int(clamping: milliseconds / 1000), at: end)
        }
        let trace = progress.trace(.refused, reason: reason, at: end)
        if let detail = rejection.detail { trace.note("detail", detail) }
        var fields: [LogField] = [.traceID(trace.id), .rejection(reason)]
        if let detail = rejection.detail { fields.append(.detail(detail)) }
        if let milliseconds = rejection.clockDifferenceMilliseconds {
            fields.append(.clockDifferenceSeconds(Int(clamping: milliseconds / 1000)))
        }
        fields.append(.durationMilliseconds(progress.milliseconds(to: end)))
        log.write(.notice, "skill request rejected", fields)
        traces?.finish(trace.record(.refused, reason: reason, end: end))
    }

    func failed(
        _ failure: SkillFailure, _ envelope: RequestEnvelope, _ skill: Skill, _ progress: SkillProgress,
        end: ContinuousClock.Instant
    ) {
        let reason = failure.reasonCode
        metrics.counter(.skillRequests, skill.name, envelope.countedType).add()
        switch failure {
        case .token(let rejection): metrics.counter(.tokenRejections, rejection.reasonCode).add()
        case .answer(let violation): metrics.counter(.invalidAnswers, violation.reasonCode).add()
        case .permissions, .resource, .slotMissing, .valueMissing, .handler, .joins: break
        }
        let outcome: TraceOutcome = failure.isFault ? .failed : .refused
        let trace = progress.trace(outcome, reason: reason, at: end)
        trace.note("requestID", envelope.header.requestID)
        trace.note("skill", skill.name)
        trace.note("requestType", envelope.header.type)
        if let name = envelope.intentName { trace.note("intent", name) }
        if let detail = failure.detail { trace.note("detail", detail) }
        if let subject = progress.subject { trace.belongs(to: subject) }
        var fields: [LogField] = [
            .traceID(trace.id), .requestID(envelope.header.requestID), .skill(skill.name),
            .requestType(envelope.header.type),
        ]
        if let name = envelope.intentName { fields.append(.intent(name)) }
        if let locale = envelope.locale { fields.append(.locale(locale)) }
        fields.append(.outcome(reason))
        if let detail = failure.detail { fields.append(.detail(detail)) }
        fields.append(.durationMilliseconds(progress.milliseconds(to: end)))
        log.write(failure.isFault ? .error : .notice, "skill request not answered as wished", fields)
        traces?.finish(trace.record(outcome, reason: reason, end: end))
    }

    /// A token that was not good, where the answer did without.
    func tokenPassedOver(_ rejection: TokenRejection) {
        guard rejection != .missing else { return }
        metrics.counter(.tokenRejections, rejection.reasonCode).add()
        log.debug("token passed over", .tokenReason(rejection.reasonCode))
    }

    func unknownType() { metrics.counter(.unknownRequestTypes).add() }
}

extension RequestEnvelope {
    /// The intent's name, where there is one.
    var intentName: String? {
        switch request {
        case .intent(let request), .canFulfillIntent(let request): request.intent.name
        default: nil
        }
    }

    /// The type as it is counted: the unknown ones together, since there is no end of them.
    fileprivate var countedType: String {
        if case .other = request, permittedAnswer == .empty { return "other" }
        return header.type
    }
}
