import FoundationEssentials

/// What a configuration is read from: the file's text, and what it names outside of itself.
public struct ConfigurationSource: Sendable {
    /// The file's text.
    public let bytes: [UInt8]
    /// The folder that relative paths start from.
    public let folder: String
    let environment: @Sendable (String) -> String?
    let readFile: @Sendable (String) -> [UInt8]?

    /// A file's text with its surroundings.
    ///
    /// - Parameters:
    ///   - bytes: the text, JSON5.
    ///   - folder: the folder that relative paths start from.
    ///   - environment: the value of an environment variable.
    ///   - readFile: the content of a file, nil where it cannot be read.
    public init(
        bytes: [UInt8], folder: String, environment: @escaping @Sendable (String) -> String?,
        readFile: @escaping @Sendable (String) -> [UInt8]?
    ) {
        self.bytes = bytes
        self.folder = folder
        self.environment = environment
        self.readFile = readFile
    }

    /// The file at `path`, with this process's environment.
    ///
    /// - Throws: ``FileFaults`` where the file cannot be read.
    public init(path: String) throws(FileFaults) {
        guard let bytes = Self.content(of: path) else {
            throw FileFaults([FileFault(path: "", problem: "the file cannot be read: give the path of one that can")])
        }
        let environment = ProcessInfo.processInfo.environment
        let slash = path.lastIndex(of: "/")
        self.init(
            bytes: bytes, folder: slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? ".",
            environment: { environment[$0] }, readFile: Self.content)
    }

    private static func content(of path: String) -> [UInt8]? {
        FileManager.default.contents(atPath: path).map { [UInt8]($0) }
    }

    /// `path`, from the folder on where it is relative.
    func resolved(_ path: String) -> String {
        if path.hasPrefix("/") { return path }
        return folder == "/" ? "/" + path : folder + "/" + path
    }
}
