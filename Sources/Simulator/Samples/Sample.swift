import FoundationEssentials
public import JSON

/// A recorded request with placeholders, and the answer that is expected.
public struct Sample: Sendable {
    /// Who sends it.
    public enum Kind: Hashable, Sendable {
        /// Alexa, signed.
        case custom
        /// A forwarder of smart-home directives.
        case smartHome
    }

    /// Its path without the extension.
    public let name: String
    /// Who sends it.
    public let kind: Kind
    /// The request's body with its placeholders.
    public let template: String
    /// What is expected; nil expects status 200 and no more.
    public let expected: JSONValue?

    /// A sample; a body with a `directive` is a smart-home one.
    ///
    /// - Parameters:
    ///   - name: what reports call it.
    ///   - template: the body.
    ///   - expected: the answer.
    /// - Throws: ``SampleError`` where the template is not JSON.
    public init(name: String, template: String, expected: JSONValue?) throws(SampleError) {
        let body: JSONValue
        do { body = try JSONValue(parsing: Array(template.utf8)) } catch {
            throw SampleError(message: "\(name): \(error.reason)")
        }
        self.name = name
        self.template = template
        self.expected = expected
        kind = body["directive"] == nil ? .custom : .smartHome
    }

    /// The samples of files and folders, in the order given and by name within a folder.
    ///
    /// `NAME.json` is a request, `NAME.expected.json` beside it the answer; a path may name either.
    ///
    /// - Throws: ``SampleError`` where a path is missing, holds no sample, or a file is not JSON.
    public static func load(paths: [String]) throws(SampleError) -> [Sample] {
        var samples: [Sample] = []
        for path in paths {
            var isFolder = false
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
                throw SampleError(message: "\(path) does not exist")
            }
            let files = isFolder ? requests(in: path) : [path]
            guard !files.isEmpty else { throw SampleError(message: "\(path) holds no samples") }
            for file in files { samples.append(try load(file: file)) }
        }
        return samples
    }

    private static func requests(in folder: String) -> [String] {
        let found = (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
        return found.filter { $0.hasSuffix(".json") && !$0.hasSuffix(".expected.json") }.sorted().map { name in
            (folder.hasSuffix("/") ? folder : folder + "/") + name
        }
    }

    private static func load(file: String) throws(SampleError) -> Sample {
        var stem = file
        for suffix in [".expected.json", ".json"] where stem.hasSuffix(suffix) {
            stem.removeLast(suffix.count)
            break
        }
        let request = stem == file ? file : stem + ".json"
        guard let template = read(request) else { throw SampleError(message: "\(request) cannot be read") }
        var expected: JSONValue?
        if let bytes = read(stem + ".expected.json") {
            do { expected = try JSONValue(parsing: bytes) } catch {
                throw SampleError(message: "\(stem).expected.json: \(error.reason)")
            }
        }
        return try Sample(name: stem, template: String(decoding: template, as: UTF8.self), expected: expected)
    }

    private static func read(_ path: String) -> [UInt8]? {
        (try? Data(contentsOf: URL(filePath: path))).map { Array($0) }
    }
}

/// Why samples cannot be sent.
public struct SampleError: Error, Hashable, Sendable {
    /// What is wrong, with the file's name.
    public let message: String

    /// An error with that message.
    public init(message: String) { self.message = message }
}
