import Concurrency
public import Time

/// What became of a step, or of a whole request.
public enum TraceOutcome: String, Sendable, Hashable, CaseIterable {
    /// It went as it should.
    case ok
    /// It was refused by a rule; the reason code says which.
    case refused
    /// It failed: a server out of reach, a time limit.
    case failed
    /// It was left out.
    case skipped
}

/// The named steps of one request or one link attempt, as they happen.
///
/// Made for each request, so it costs next to nothing until something is noted: the id is made when first asked for.
/// It takes reason codes and short facts, never a secret; number and length of everything is bounded.
public final class Trace: Sendable {
    /// What the trace tells of.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A custom-skill request.
        case custom
        /// A smart-home directive.
        case smartHome
        /// An attempt to link accounts.
        case link
        /// Anything else.
        case other
    }

    /// How many steps are kept; later ones are counted only.
    public static let stepLimit = 64
    /// How many notes are kept.
    public static let noteLimit = 32

    private struct State: Sendable {
        var id: TraceID?
        var steps: [TraceRecord.Step] = []
        var droppedSteps = 0
        var notes: [TraceRecord.Note] = []
        var subject: String?
    }

    /// What it tells of.
    public let kind: Kind
    /// When it began, by the wall clock.
    public let startedAt: UnixTime
    private let start: ContinuousClock.Instant
    private let state: Locked<State>

    /// A trace that begins now: `startedAt` by the wall clock, `start` by the monotonic one; with an `id` where it goes
    /// on with an earlier one.
    public init(_ kind: Kind, id: TraceID? = nil, startedAt: UnixTime, start: ContinuousClock.Instant) {
        self.kind = kind
        self.startedAt = startedAt
        self.start = start
        state = Locked(State(id: id))
    }

    /// Its random name.
    public var id: TraceID {
        state.withLock { state in
            if let id = state.id { return id }
            let id = TraceID.random()
            state.id = id
            return id
        }
    }

    /// Notes that the step `name` ran from `begin` to `end`.
    public func step(
        _ name: StaticString, _ outcome: TraceOutcome, reason: String? = nil, from begin: ContinuousClock.Instant,
        to end: ContinuousClock.Instant
    ) {
        let step = TraceRecord.Step(
            name: name.description, outcome: outcome, reason: reason.map { bounded($0) },
            start: start.duration(to: begin),
            duration: begin.duration(to: end))
        state.withLock { state in
            if state.steps.count < Self.stepLimit { state.steps.append(step) } else { state.droppedSteps += 1 }
        }
    }

    /// Notes a fact that may be shown to an operator: a skill's name, a request id.
    public func note(_ name: StaticString, _ value: String) {
        let note = TraceRecord.Note(name: name.description, value: bounded(value))
        state.withLock { state in
            if state.notes.count < Self.noteLimit { state.notes.append(note) }
        }
    }

    /// Says whose request it is, once that is known: the provider's subject, by which an operator finds the trace.
    public func belongs(to subject: String) {
        state.withLock { state in state.subject = subject }
    }

    /// The trace as it is stored and shown, ended at `end`.
    public func record(
        _ outcome: TraceOutcome, reason: String? = nil, end: ContinuousClock.Instant
    ) -> TraceRecord {
        let id = id
        return state.withLock { state in
            TraceRecord(
                id: id.text, kind: kind, startedAt: startedAt,
                duration: start.duration(to: end),
                outcome: outcome, reason: reason.map { bounded($0) }, subject: state.subject, steps: state.steps,
                droppedSteps: state.droppedSteps, notes: state.notes)
        }
    }
}
