import FoundationEssentials
public import Testing

/// The folder of shared fixtures beside the package, which not every machine has.
public enum Fixtures {
    /// The folder's path: `SKILLGATE_FIXTURES` where that is set, otherwise `../shared/fixtures`.
    public static let folder: String = {
        if let path = ProcessInfo.processInfo.environment["SKILLGATE_FIXTURES"] { return path }
        let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return package.appending(path: "../shared/fixtures").standardizedFileURL.path
    }()

    /// The path of a fixture.
    public static func path(_ name: String) -> String { folder + "/" + name }

    /// Whether a fixture is there.
    public static func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path(name)) }

    /// The bytes of a fixture.
    public static func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: path(name))))
    }

    /// The files under a folder of fixtures whose name ends so, sorted; none where the folder is missing.
    public static func files(in name: String, suffix: String = ".json") -> [String] {
        let found = (try? FileManager.default.subpathsOfDirectory(atPath: path(name))) ?? []
        return found.filter { $0.hasSuffix(suffix) }.sorted().map { name + "/" + $0 }
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips a test where a fixture is missing, and says which.
    public static func needsFixture(_ name: String) -> ConditionTrait {
        .enabled(if: Fixtures.exists(name), "skipped: there is no \(Fixtures.path(name))")
    }
}
