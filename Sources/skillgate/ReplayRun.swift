import Concurrency
import HTTP
import JSON
import Simulator
import Time

/// How one sample fared, over all its repeats.
struct ReplayOutcome: Sendable {
    let sample: String
    /// Those of the first repeat that had any.
    let differences: [AnswerDifference]
    /// Of each repeat.
    let milliseconds: [Double]
    /// How many repeats differed.
    let failures: Int

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
    }

    /// The outcomes in the order of the samples; `progress` hears of each answer.
    func outcomes(concurrency: Int, progress: @escaping @Sendable (Int, Int) -> Void) async -> [ReplayOutcome] {
        let count = samples.count * repeats
        let next = Locked(0)
        let attempts = await withTaskGroup(of: [Attempt].self) { group in
            for _ in 0..<min(concurrency, count) {
                group.addTask {
                    var attempts: [Attempt] = []
                    while true {
                        let index = next.withLock { next in
                            defer { next += 1 }
                            return next
                        }
                        guard index < count else { return attempts }
                        attempts.append(await attempt(index % samples.count))
                        progress(index + 1, count)
                    }
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        var bySample = [[Attempt]](repeating: [], count: samples.count)
        for attempt in attempts { bySample[attempt.sample].append(attempt) }
        return zip(samples, bySample).map { sample, attempts in
            let failed = attempts.filter { !$0.differences.isEmpty }
            return ReplayOutcome(
                sample: sample.name, differences: failed.first?.differences ?? [],
                milliseconds: attempts.map(\.milliseconds), failures: failed.count)
        }
    }

    private func attempt(_ index: Int) async -> Attempt {
        let sample = samples[index]
        let begin = ContinuousClock.now
        var differences: [AnswerDifference]
        do {
            let body = try target.placeholders(tokenState, sample.kind).body(of: sample, now: target.clock())
            let request = try target.request(sample.kind, body)
            differences = judge(try await target.send(request), sample)
        } catch let error as SampleError {
            differences = [AnswerDifference(path: "", expected: "to be sent", found: error.message)]
        } catch let error as HTTPClientError {
            differences = [AnswerDifference(path: "", expected: "an answer", found: ReplayTarget.text(of: error))]
        } catch {
            differences = [AnswerDifference(path: "", expected: "to be signed", found: "\(error)")]
        }
        let (seconds, attoseconds) = begin.duration(to: .now).components
        return Attempt(
            sample: index, differences: differences,
            milliseconds: Double(seconds) * 1000 + Double(attoseconds) / 1e15)
    }

    private func judge(_ answer: HTTPResponse, _ sample: Sample) -> [AnswerDifference] {
        guard answer.status == 200 else {
            let text = String(decoding: answer.body.prefix(300), as: UTF8.self)
            return [
                AnswerDifference(
                    path: "status", expected: "200", found: "\(answer.status)" + (text.isEmpty ? "" : " \(text)"))
            ]
        }
        guard let expected = sample.expected else { return [] }
        guard let value = try? JSONValue(parsing: answer.body) else {
            return [AnswerDifference(path: "", expected: "JSON", found: "\(answer.body.count) bytes that are none")]
        }
        return ExpectedAnswer(expected).differences(from: value)
    }
}
