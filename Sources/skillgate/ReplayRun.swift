import Concurrency
import Crypto
import HTTP
import JSON
import Simulator
import Time

/// How one sample fared, over all its repeats.
struct ReplayOutcome: Sendable {
    /// What reports call it.
    let sample: String
    /// Those of the first repeat that had any.
    let differences: [AnswerDifference]
    /// Of each repeat.
    let milliseconds: [Double]
    /// How many repeats differed.
    let failures: Int
    /// What a reader should know besides, for example that only the status was compared.
    var note: String?
    /// The answers to each step of the first repeat; fewer where a step brought none.
    var answers: [HTTPResponse] = []

    var isExpected: Bool { failures == 0 }
}

/// Sends samples, each as often as asked, some at once.
struct ReplayRun {
    let samples: [Sample]
    let target: ReplayTarget
    let tokenState: TokenState
    let repeats: Int

    private struct Attempt {
        let sample: Int
        let differences: [AnswerDifference]
        let milliseconds: Double
        let answers: [HTTPResponse]
    }

    /// What answers held where a sample captures it, for the samples after it.
    private let captured = Locked<[String: String]>([:])

    init(samples: [Sample], target: ReplayTarget, tokenState: TokenState = .linked, repeats: Int = 1) {
        self.samples = samples
        self.target = target
        self.tokenState = tokenState
        self.repeats = repeats
    }

    /// The outcomes in the order of the samples; `progress` hears of each answer.
    ///
    /// With `concurrency` over 1, samples of steps come one after another when the others are done: they change what
    /// they share.
    func outcomes(concurrency: Int, progress: @escaping @Sendable (Int, Int) -> Void) async -> [ReplayOutcome] {
        let all = (0..<samples.count * repeats).map { $0 % samples.count }
        let done = Locked(0)
        let count = all.count
        let tell: @Sendable () -> Void = {
            let number = done.withLock { done in
                done += 1
                return done
            }
            progress(number, count)
        }
        guard concurrency > 1 else { return outcomes(of: await attempts(all, concurrency: 1, tell)) }
        let together = await attempts(all.filter { samples[$0].kind != .steps }, concurrency: concurrency, tell)
        return outcomes(
            of: together + (await attempts(all.filter { samples[$0].kind == .steps }, concurrency: 1, tell)))
    }

    private func attempts(
        _ indices: [Int], concurrency: Int, _ tell: @escaping @Sendable () -> Void
    ) async -> [Attempt] {
        let next = Locked(0)
        return await withTaskGroup(of: [Attempt].self) { group in
            for _ in 0..<min(concurrency, indices.count) {
                group.addTask {
                    var attempts: [Attempt] = []
                    while true {
                        let place = next.withLock { next in
                            defer { next += 1 }
                            return next
                        }
                        guard place < indices.count else { return attempts }
                        attempts.append(await attempt(indices[place], isFirst: place < samples.count))
                        tell()
                    }
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
    }

    private func outcomes(of attempts: [Attempt]) -> [ReplayOutcome] {
        var bySample = [[Attempt]](repeating: [], count: samples.count)
        for attempt in attempts { bySample[attempt.sample].append(attempt) }
        return zip(samples, bySample).map { sample, attempts in
            let failed = attempts.filter { !$0.differences.isEmpty }
            return ReplayOutcome(
                sample: sample.name, differences: failed.first?.differences ?? [],
                milliseconds: attempts.map(\.milliseconds), failures: failed.count, note: note(sample),
                answers: attempts.first { !$0.answers.isEmpty }?.answers ?? [])
        }
    }

    private func note(_ sample: Sample) -> String? {
        guard sample.kind != .steps, !sample.expected(of: 0, with: tokenState).isSaid else { return nil }
        let isOther = tokenState != .linked && sample.dependsOnToken
        return "only the status was compared: there is no .expected\(isOther ? "." + tokenState.rawValue : "").json"
    }

    private func attempt(_ index: Int, isFirst: Bool) async -> Attempt {
        let sample = samples[index]
        let begin = ContinuousClock.now
        var differences: [AnswerDifference] = []
        var answers: [HTTPResponse] = []
        for place in sample.steps.indices {
            let expected = sample.expected(of: place, with: tokenState).response
            var found: [AnswerDifference]
            var goesOn = false
            do {
                let answer = try await answer(to: place, of: sample)
                if isFirst { answers.append(answer) }
                found = judge(answer, expected)
                goesOn = answer.status == expected.status
            } catch let error as SampleError {
                found = [AnswerDifference(path: "", expected: "to be sent", found: error.message)]
            } catch let error as HTTPClientError {
                found = [AnswerDifference(path: "", expected: "an answer", found: ReplayTarget.text(of: error))]
            } catch {
                found = [AnswerDifference(path: "", expected: "to be signed", found: "\(error)")]
            }
            if sample.steps.count > 1 { found = found.map { $0.within("step \(place + 1)") } }
            differences += found
            // What comes after builds on what came before.
            if !goesOn { break }
        }
        let (seconds, attoseconds) = begin.duration(to: .now).components
        return Attempt(
            sample: index, differences: differences,
            milliseconds: Double(seconds) * 1000 + Double(attoseconds) / 1e15, answers: answers)
    }

    private func answer(to place: Int, of sample: Sample) async throws -> HTTPResponse {
        let step = sample.steps[place]
        let values = target.placeholders(tokenState, sample.kind)
        let now = target.clock()
        let captured = captured.withLock { $0 }
        let text: (String) throws(SampleError) -> String = { template throws(SampleError) in
            try values.text(template, of: sample.name, now: now, captured: captured)
        }
        let body: [UInt8]?
        if sample.kind == .steps {
            body = try step.body.map { Array(try text($0).utf8) }
        } else {
            body = try values.body(of: sample, now: now)
        }
        var headers: [(name: String, value: String)] = []
        for (name, value) in step.headers { headers.append((name, try text(value))) }
        let request = try target.request(step, target: try text(step.target), headers: headers, body: body)
        return try await target.send(request)
    }

    private func judge(_ answer: HTTPResponse, _ expected: ExpectedResponse) -> [AnswerDifference] {
        guard answer.status == expected.status else {
            let text = String(decoding: answer.body.prefix(300), as: UTF8.self)
            return [
                AnswerDifference(
                    path: "status", expected: "\(expected.status)",
                    found: "\(answer.status)" + (text.isEmpty ? "" : " \(text)"))
            ]
        }
        var differences: [AnswerDifference] = []
        for (name, value) in expected.headers {
            let found = answer.fields[name].map(JSONValue.string)
            let isSame = found.map { ExpectedAnswer(value).differences(from: $0).isEmpty } ?? false
            if !isSame {
                differences.append(
                    AnswerDifference(
                        path: "header \(name)", expected: value.string ?? "", found: found?.string ?? "nothing"))
            }
        }
        guard let body = expected.body else { return differences }
        guard let value = Self.value(answer, as: body) else {
            let found = "\(answer.body.count) bytes that are none"
            return differences + [AnswerDifference(path: "", expected: "JSON", found: found)]
        }
        let matcher = ExpectedAnswer(body)
        let captures = matcher.captures(in: value)
        captured.withLock { $0.merge(captures) { _, new in new } }
        return differences + matcher.differences(from: value)
    }

    /// The answer's body; what is no JSON is a text where a text is expected.
    static func value(_ answer: HTTPResponse, as expected: JSONValue) -> JSONValue? {
        if let value = try? JSONValue(parsing: answer.body) { return value }
        guard expected.string != nil else { return nil }
        return String(validating: answer.body, as: UTF8.self).map(JSONValue.string)
    }
}

extension AnswerDifference {
    /// The same difference of an answer that is one of several.
    fileprivate func within(_ step: String) -> AnswerDifference {
        AnswerDifference(
            path: path.isEmpty ? step : "\(step): \(path)", expected: expected, found: found,
            surroundings: surroundings)
    }
}
