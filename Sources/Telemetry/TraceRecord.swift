public import Time

/// A finished trace.
public struct TraceRecord: Sendable, Hashable {
    /// One step.
    public struct Step: Sendable, Hashable {
        /// What was done, `exchange` for example.
        public var name: String
        /// What became of it.
        public var outcome: TraceOutcome
        /// Why, where it did not go well: a reason code.
        public var reason: String?
        /// When it began, after the trace's start.
        public var start: Duration
        /// How long it took.
        public var duration: Duration

        /// A step.
        public init(
            name: String, outcome: TraceOutcome, reason: String? = nil, start: Duration, duration: Duration
        ) {
            self.name = name
            self.outcome = outcome
            self.reason = reason
            self.start = start
            self.duration = duration
        }
    }

    /// A fact.
    public struct Note: Sendable, Hashable {
        /// What it says.
        public var name: String
        /// The value.
        public var value: String

        /// A fact.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Its random name, 32 hexadecimal digits.
    public var id: String
    /// What it tells of.
    public var kind: Trace.Kind
    /// When it began.
    public var startedAt: UnixTime
    /// How long it took in all.
    public var duration: Duration
    /// What became of it.
    public var outcome: TraceOutcome
    /// Why, where it did not go well: a reason code.
    public var reason: String?
    /// Whose request it was: the provider's subject, where known.
    public var subject: String?
    /// The steps, in the order in which they ended.
    public var steps: [Step]
    /// How many more steps there were than are kept.
    public var droppedSteps: Int
    /// Facts.
    public var notes: [Note]

    /// A trace.
    public init(
        id: String, kind: Trace.Kind, startedAt: UnixTime, duration: Duration, outcome: TraceOutcome,
        reason: String? = nil, subject: String? = nil, steps: [Step] = [], droppedSteps: Int = 0, notes: [Note] = []
    ) {
        self.id = id
        self.kind = kind
        self.startedAt = startedAt
        self.duration = duration
        self.outcome = outcome
        self.reason = reason
        self.subject = subject
        self.steps = steps
        self.droppedSteps = droppedSteps
        self.notes = notes
    }
}

extension TraceRecord {
    /// This trace told as what followed `earlier`: one trace of both, of the earlier one's name, with the outcome of
    /// this one.
    public func following(_ earlier: TraceRecord) -> TraceRecord {
        let shift = Duration.milliseconds(max(0, startedAt.milliseconds(since: earlier.startedAt)))
        var joined = self
        joined.id = earlier.id
        joined.startedAt = earlier.startedAt
        joined.duration += shift
        joined.subject = subject ?? earlier.subject
        let shifted = steps.map { step in
            var step = step
            step.start += shift
            return step
        }
        let all = earlier.steps + shifted
        joined.steps = Array(all.prefix(Trace.stepLimit))
        joined.droppedSteps += earlier.droppedSteps + max(0, all.count - Trace.stepLimit)
        joined.notes = Array((earlier.notes + notes.filter { !earlier.notes.contains($0) }).prefix(Trace.noteLimit))
        return joined
    }
}
