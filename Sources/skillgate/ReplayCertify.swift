import HTTP
import JSON
import Service
import Simulator
import Time
import Transport

/// `skillgate replay --certify`: the requests that Amazon's certification sends.
enum Certify {
    private static let answerTime = Duration.seconds(10)

    static func run(_ arguments: Arguments) async throws(UsageError) -> Int32 {
        guard arguments.operands.isEmpty else { throw UsageError("--certify makes its own requests and takes no PATH") }
        for name in ["--jsonl", "--update", "--sign", "--token-state", "--user", "--repeat", "--concurrency"]
        where arguments.has(name) { throw UsageError("\(name) does not go with --certify") }
        guard let endpoint = arguments.value("--endpoint") else { throw UsageError("--certify needs --endpoint URL") }
        guard let configuration = ConfigurationFile.read(ReplayTarget.configurationPath(arguments)) else { return 2 }
        guard let skill = configuration.skills.first else { throw UsageError("the configuration has no skill") }
        let results: [Certification.Result]
        do {
            results = try await self.results(
                endpoint: address(endpoint), skill: skill.id, configuration,
                authorityFolder: authorityFolder(arguments, configuration))
        } catch let error as UsageError {
            throw error
        } catch let error as AuthorityError {
            throw UsageError(error.message)
        } catch { throw UsageError("\(error)") }
        show(results, inJSON: arguments.has("--json"))
        if let path = arguments.value("--junit") { try junit(results).write(to: path) }
        return results.allSatisfy { $0.isLeftOut || $0.isRight } ? 0 : 1
    }

    /// Alexa's route of an endpoint that is given by its origin; another path is taken as it is.
    private static func address(_ endpoint: String) -> String {
        let rest = endpoint.split(separator: "//", maxSplits: 1).last ?? ""
        let path = rest.drop { $0 != "/" }
        return path.count <= 1 ? endpoint.dropLast(path.count) + Sample.customTarget : endpoint
    }

    /// The folder of the authority that the endpoint trusts; nil where it trusts none of ours.
    private static func authorityFolder(_ arguments: Arguments, _ configuration: Configuration) -> String? {
        if let folder = arguments.value("--authority") { return folder }
        guard let endpoint = arguments.value("--endpoint"),
            ["//127.0.0.1", "//localhost", "//[::1]"].contains(where: { endpoint.contains($0) })
        else { return nil }
        return ReplayTarget.simulatorFolder(configuration)
    }

    private static func results(
        endpoint: String, skill: String, _ configuration: Configuration, authorityFolder: String?
    ) async throws -> [Certification.Result] {
        let clock = SystemClock.clock(offsetSeconds: configuration.clockOffsetSeconds)
        let group = try EventLoopGroup(threads: 1)
        let client = CurlClient(group: group, configuration: ReplayTarget.clientConfiguration(configuration))
        defer { group.shutdown() }
        let authority = try authorityFolder.map { try Authority.load(folder: $0, now: SystemClock.now) }
        let hosts = AmazonHosts(
            authority: try authority ?? Authority(now: SystemClock.now), clients: [], clock: clock)
        var listener: AmazonListener?
        if let authorityFolder {
            listener = try AmazonListener(
                hosts, folder: authorityFolder, group: group, port: try ReplayTarget.port(configuration))
        }
        let certification = Certification(
            url: endpoint, skillID: skill, hosts: hosts, isTrusted: authority != nil, clock: clock)
        var results: [Certification.Result] = []
        for item in CertificationCase.all {
            results.append(
                await certification.result(of: item) { request throws(CertificationFailure) in
                    do throws(HTTPClientError) {
                        return try await client.send(request, by: .after(answerTime, from: .now))
                    } catch { throw CertificationFailure(reason: ReplayTarget.text(of: error)) }
                })
        }
        await listener?.stop()
        await client.shutdown()
        return results
    }

    // MARK: - What is told

    private static func show(_ results: [Certification.Result], inJSON: Bool) {
        guard !inJSON else {
            for result in results { Output.line(json(result)) }
            return
        }
        let width = results.map(\.item.name.count).max() ?? 0
        for result in results {
            let name = result.item.name + String(repeating: " ", count: width - result.item.name.count)
            if result.isLeftOut {
                Output.line("- \(name)  \(result.item.sends)")
            } else if result.isRight {
                let answer = result.status.map { "\($0)" } ?? ""
                Output.line("\(Output.coloured("✓", .green)) \(name)  \(result.item.sends): \(answer)")
            } else {
                Output.line("\(Output.coloured("✗", .red)) \(name)  \(result.item.sends)\n    \(failure(result))")
            }
        }
        let sent = results.filter { !$0.isLeftOut }
        let right = sent.filter(\.isRight).count
        Output.line("\(right) of \(sent.count) answered as Amazon's certification wants")
        let leftOut = results.count - sent.count
        if leftOut > 0 {
            Output.line(
                "\(leftOut) left out (marked -): they need an endpoint that trusts the simulator's authority; --authority DIR names it"
            )
        } else if let first = results.first, first.item.isControl, !first.isRight {
            Output.line(
                "The right request was refused: does the endpoint trust the authority, reach its certificates by http.resolve, and serve that skill?"
            )
        }
    }

    private static func failure(_ result: Certification.Result) -> String {
        let wanted = result.item.statuses.map(String.init).joined(separator: " or ")
        return "expected \(wanted), found \(result.status.map(String.init) ?? result.reason ?? "nothing")"
    }

    private static func json(_ result: Certification.Result) -> JSONValue {
        var object: JSONObject = [
            "case": .string(result.item.name), "sends": .string(result.item.sends),
            "expected": .array(result.item.statuses.map { .integer(Int64($0)) }),
        ]
        if let status = result.status { object["answered"] = .integer(Int64(status)) }
        if !result.isLeftOut { object["ok"] = .bool(result.isRight) }
        if result.isLeftOut { object["leftOut"] = true }
        if let reason = result.reason { object["reason"] = .string(reason) }
        return .object(object)
    }

    private static func junit(_ results: [Certification.Result]) -> JUnitReport {
        JUnitReport(
            suite: "skillgate replay --certify",
            cases: results.map { result in
                JUnitReport.Case(
                    name: result.item.name, seconds: result.seconds,
                    failures: result.isLeftOut || result.isRight
                        ? [] : ["\(result.item.sends): \(failure(result))"],
                    skipped: result.isLeftOut ? result.reason : nil)
            })
    }
}
