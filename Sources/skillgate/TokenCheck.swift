import Concurrency
import Crypto
import Glibc
import JSON
import OAuth
import Time

/// `skillgate token check`: why a token is good or not.
enum TokenCheckCommand: Command {
    static let name = "token check"
    static let summary = "says whether a token is valid, or why not"
    static let explanation = """
        Reads a token from standard input, judges it and shows its claims, never the token. With --jwks the keys of
        that file decide, with --config the provider of the configuration does, as for the service.
        Exits with 0 for a valid token, 1 for one that is refused, 2 where keys or arguments are wrong.
        With --jsonl it reads lines {"id","jwk":KEY or {"keys":[…]},"jws"} instead, judges the signature alone and
        writes a line {"id","accepted","reason"} for each; then it exits with 1 only where a line could not be read.
        """
    static let options: [CommandOption] = [
        CommandOption("--jwks", value: "FILE", "the issuer's keys: a key set, or one key"),
        CommandOption("--config", value: "FILE", "the configuration, a JSON5 file"),
        CommandOption("--issuer", value: "I", "the issuer that the token must name"),
        CommandOption("--audience", value: "A", "the audience that the token must name"),
        CommandOption("--at", value: "INSTANT", "judges as at that time, 2026-11-30T12:00:00Z for example"),
        CommandOption("--jsonl", "judges signatures line by line"),
        .json,
    ]
    static let example = "skillgate token check --jwks keys.json --issuer https://id.example.com < token.txt"

    static func run(_ arguments: Arguments) async throws(UsageError) -> Int32 {
        if arguments.has("--jsonl") {
            for name in ["--jwks", "--config", "--issuer", "--audience", "--at"] where arguments.has(name) {
                throw UsageError("\(name) does not go with --jsonl")
            }
            return judgeLines()
        }
        let ways = ["--jwks", "--config"].filter { arguments.has($0) }
        guard ways.count == 1 else {
            throw UsageError(
                ways.isEmpty ? "--jwks FILE, --config FILE or --jsonl is missing" : "--jwks or --config, not both")
        }
        var judge = try await TokenJudge(jwks: arguments.value("--jwks"), config: arguments.value("--config"))
        judge.expect(issuer: arguments.value("--issuer"), audience: arguments.value("--audience"))
        let instant = try instant(arguments.value("--at"))
        let (offset, faults) = (judge.clockOffsetSeconds, Locked(judge.faults))
        let validator = TokenValidator(
            judge.validation, http: judge.http, clock: { instant ?? SystemClock.now.adding(seconds: offset) },
            monotonic: { ContinuousClock.now }, observe: { event in faults.withLock { $0 += Self.faults(of: event) } })
        let token = trimmed(readAll(limit: 4 * JSONWebSignature.lengthLimit))
        let report = await TokenReport(token, validator: validator)
        if arguments.has("--json") { Output.line(report.json) } else { report.print(faults: faults.withLock { $0 }) }
        return report.rejection == nil ? 0 : 1
    }

    private static func judgeLines() -> Int32 {
        var code: Int32 = 0
        var reader = LineReader()
        while let line = reader.next() {
            guard !line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) else { continue }
            let verdict = SignatureLine(line)
            if !verdict.isReadable { code = 1 }
            Output.line(verdict.json)
        }
        return code
    }

    /// What a watcher of the validator has to say to whoever asks about one token.
    private static func faults(of event: TokenEvent) -> [String] {
        switch event {
        case .keysFetched(_, let faults): faults.map { "a key is not used: \($0)" }
        case .keysUnavailable(let reason): ["the keys cannot be fetched: \(reason)"]
        case .introspectionUnavailable(let reason): ["the provider cannot be asked: \(reason)"]
        case .usersUnavailable(let reason): ["the users cannot be read: \(reason)"]
        case .unknownKey(let id): ["the token names the key \(id)"]
        }
    }

    private static func instant(_ text: String?) throws(UsageError) -> UnixTime? {
        guard let text else { return nil }
        guard let instant = UnixTime(iso8601: text) else {
            throw UsageError("--at takes an instant as 2026-11-30T12:00:00Z, not \(text)")
        }
        return instant
    }

    private static func trimmed(_ bytes: [UInt8]) -> String {
        let isBlank: (UInt8) -> Bool = { $0 <= 0x20 }
        return String(decoding: bytes.drop(while: isBlank).reversed().drop(while: isBlank).reversed(), as: UTF8.self)
    }

    private static func readAll(limit: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count <= limit, let chunk = readChunk() { bytes += chunk }
        return bytes
    }
}

/// What is said of one token.
private struct TokenReport {
    let rejection: TokenRejection?
    let claims: JSONValue?

    init(_ token: String, validator: TokenValidator) async {
        let deadline = Deadline.after(.seconds(10), from: ContinuousClock.now)
        do throws(TokenRejection) {
            let principal = try await validator.principal(
                for: Secret(token), clients: .any, scopes: [], by: deadline)
            rejection = nil
            claims = principal.claims
        } catch {
            rejection = error
            claims = (try? JSONWebSignature(compact: token)).flatMap { try? JSONValue(parsing: $0.payload) }
        }
    }

    var json: JSONValue {
        var object: JSONObject = ["valid": .bool(rejection == nil)]
        object["reason"] = rejection.map { .string($0.reasonCode) } ?? .null
        if let detail = rejection?.detail { object["detail"] = .string(detail) }
        object["claims"] = claims ?? .null
        return .object(object)
    }

    func print(faults: [String]) {
        if let rejection {
            let detail = rejection.detail.map { ": \($0)" } ?? ""
            Output.line(Output.coloured("✗", .red) + " \(rejection.reasonCode)\(detail)")
        } else {
            Output.line(Output.coloured("✓", .green) + " valid")
        }
        for fault in faults { Output.line(Output.coloured("!", .yellow) + " \(fault)") }
        guard let claims else { return }
        Output.line(rejection == nil ? "claims:" : "claims, as the token says:")
        Output.line(String(decoding: claims.encoded(pretty: true), as: UTF8.self))
        for (name, meaning) in [("exp", "ends"), ("nbf", "begins"), ("iat", "was issued")] {
            guard let seconds = claims[name]?.integer else { continue }
            Output.line("\(meaning) \(UnixTime(seconds: seconds).iso8601())")
        }
    }
}

/// Standard input by lines; a line that is too long comes cut, so that it is judged unreadable and nothing is lost.
private struct LineReader {
    private var buffer: [UInt8] = []
    private var start = 0
    private var isAtEnd = false

    mutating func next() -> [UInt8]? {
        var line: [UInt8] = []
        while true {
            let rest = buffer[start...]
            let end = rest.firstIndex(of: UInt8(ascii: "\n"))
            let room = SignatureLine.lengthLimit + 1 - line.count
            line += rest[..<(end ?? rest.endIndex)].prefix(room)
            if let end {
                start = end + 1
                return line
            }
            guard let chunk = readChunk() else {
                let wasAtEnd = isAtEnd
                isAtEnd = true
                buffer = []
                start = 0
                return wasAtEnd || line.isEmpty ? nil : line
            }
            buffer = chunk
            start = 0
        }
    }
}

/// The next bytes of standard input; nil at its end.
private func readChunk() -> [UInt8]? {
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
        let count = unsafe read(STDIN_FILENO, &chunk, chunk.count)
        if count < 0, errno == EINTR { continue }
        return count > 0 ? Array(chunk.prefix(count)) : nil
    }
}
