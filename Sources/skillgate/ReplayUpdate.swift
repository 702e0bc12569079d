import FoundationEssentials
import HTTP
import JSON
import Simulator
import Time

/// Takes the answers as the ones to expect from now on: `replay --update`.
struct ReplayUpdate {
    let tokenState: TokenState
    let clock: WallClock

    /// Writes the files of samples whose answer differs, or that had none.
    ///
    /// An answer with another status than the one that is expected is never taken: it stays a difference.
    ///
    /// - Returns: the outcomes as they are now.
    /// - Throws: ``UsageError`` where a file cannot be written.
    func apply(_ outcomes: [ReplayOutcome], to samples: [Sample]) throws(UsageError) -> [ReplayOutcome] {
        var updated: [ReplayOutcome] = []
        for (outcome, sample) in zip(outcomes, samples) {
            updated.append(try apply(outcome, to: sample))
        }
        return updated
    }

    private func apply(_ outcome: ReplayOutcome, to sample: Sample) throws(UsageError) -> ReplayOutcome {
        guard outcome.answers.count == sample.steps.count else { return outcome }
        for (place, answer) in outcome.answers.enumerated()
        where answer.status != sample.expected(of: place, with: tokenState).response.status { return outcome }
        let path: String
        let text: JSONValue
        if sample.kind == .steps {
            guard !outcome.isExpected, let value = try? JSONValue(parsing: Array(sample.template.utf8)) else {
                return outcome
            }
            path = sample.name + ".json"
            text = withResponses(value, of: sample, outcome.answers)
        } else {
            let (expected, isSaid) = sample.expected(of: 0, with: tokenState)
            guard !outcome.isExpected || !isSaid, let answer = outcome.answers.first else { return outcome }
            let state = tokenState != .linked && sample.dependsOnToken ? ".\(tokenState.rawValue)" : ""
            path = "\(sample.name).expected\(state).json"
            guard let body = body(of: answer, expected.body, sample.template) else { return outcome }
            text = expected.status == 200 ? body : ["$status": .integer(Int64(expected.status)), "$body": body]
        }
        guard AtomicFile.write(text.encoded(pretty: true) + [UInt8(ascii: "\n")], to: path) else {
            throw UsageError("\(path) cannot be written")
        }
        return ReplayOutcome(
            sample: outcome.sample, differences: [], milliseconds: outcome.milliseconds, failures: 0,
            note: "\(path) is written", answers: outcome.answers)
    }

    private func withResponses(_ value: JSONValue, of sample: Sample, _ answers: [HTTPResponse]) -> JSONValue {
        guard var object = value.object, var steps = object["steps"]?.array, steps.count == answers.count else {
            return value
        }
        for (place, answer) in answers.enumerated() {
            guard let body = sample.steps[place].expected.body, var step = steps[place].object,
                var response = step["response"]?.object
            else { continue }
            response["body"] = self.body(of: answer, body, sample.template)
            step["response"] = .object(response)
            steps[place] = .object(step)
        }
        object["steps"] = .array(steps)
        return .object(object)
    }

    /// What to expect of that body; nil where nothing can be.
    private func body(of answer: HTTPResponse, _ expected: JSONValue?, _ request: String) -> JSONValue? {
        guard let value = ReplayRun.value(answer, as: expected ?? "") else { return nil }
        guard let expected else { return ExpectedAnswer.first(value, request: request, at: clock()).value }
        return ExpectedAnswer(expected).updated(by: value, request: request, at: clock()).value
    }
}
