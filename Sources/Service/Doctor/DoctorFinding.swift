public import JSON

/// What a check of `skillgate doctor` found.
public struct DoctorFinding: Sendable, Hashable {
    /// How grave it is.
    public enum Level: String, Sendable, Hashable {
        /// As it should be.
        case ok
        /// It works, but not for everybody, or not as safely as it could.
        case warning
        /// Something will not work.
        case fault
    }

    /// The check's id, as the documentation lists it.
    public let check: String
    /// The key of the configuration that it is about; empty where it is none.
    public let key: String
    /// How grave it is.
    public let level: Level
    /// What was found, and why that matters.
    public let message: String
    /// What to do; empty where nothing is to be done.
    public let mend: String

    /// A finding.
    public init(check: String, key: String = "", level: Level, message: String, mend: String = "") {
        self.check = check
        self.key = key
        self.level = level
        self.message = message
        self.mend = mend
    }

    /// The line of `--json`.
    public var json: JSONValue {
        [
            "check": .string(check), "key": .string(key), "level": .string(level.rawValue),
            "message": .string(message), "mend": .string(mend),
        ]
    }
}

/// A check that needs the configuration alone.
public struct DoctorCheck: Sendable {
    /// What is wrong at one key.
    struct Found: Sendable {
        let key: String
        var level = DoctorFinding.Level.warning
        let message: String
        let mend: String
    }

    /// The id.
    public let id: String
    /// What is so where nothing is found.
    public let title: String
    /// Whether there is anything to check.
    let applies: @Sendable (Configuration) -> Bool
    let problems: @Sendable (Configuration) -> [Found]

    init(
        _ id: String, _ title: String, applies: @escaping @Sendable (Configuration) -> Bool = { _ in true },
        _ problems: @escaping @Sendable (Configuration) -> [Found]
    ) {
        self.id = id
        self.title = title
        self.applies = applies
        self.problems = problems
    }

    /// What it finds: nothing where it does not apply, one good line where all is well.
    public func findings(_ configuration: Configuration) -> [DoctorFinding] {
        guard applies(configuration) else { return [] }
        let problems = problems(configuration)
        if problems.isEmpty { return [DoctorFinding(check: id, level: .ok, message: title)] }
        return problems.map {
            DoctorFinding(check: id, key: $0.key, level: $0.level, message: $0.message, mend: $0.mend)
        }
    }

    /// Every check of the configuration, in the order in which they are shown.
    public static let all = skills + pairs + linking + provider + google + apps + host
}
