import FoundationEssentials
import JSON

extension Sample {
    /// The samples of files and folders, in the order given and by name within a folder.
    ///
    /// `NAME.json` is a request, `NAME.expected.json` beside it the answer, `NAME.expected.STATE.json` the answer where
    /// `{{token}}` is in another state; a path may name any of them. A folder `website` holds a page to copy, and no samples.
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

    /// The samples of a log: every line that holds a request, and how many lines hold none.
    ///
    /// A request is what Alexa sent, as it came, or an object that holds it as `request`, `event` or `body`, perhaps with
    /// the answer as `response`; or it is a step with a `target`. What stands on a line before the first brace is left
    /// out. Tokens, codes, times and skill ids become placeholders, so that old requests can be sent again; a line that
    /// holds placeholders is a sample already, and stays as it is.
    ///
    /// - Throws: ``SampleError`` where a file is missing, or no line holds a request.
    public static func load(
        lines paths: [String], skillIDs: Set<String>
    ) throws(SampleError) -> (samples: [Sample], skipped: Int) {
        var samples: [Sample] = []
        var skipped = 0
        for path in paths {
            guard let bytes = read(path) else { throw SampleError(message: "\(path) cannot be read") }
            let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            for (index, line) in lines.enumerated() where !line.allSatisfy({ $0 <= 0x20 }) {
                if let sample = try sample(line: line, name: "\(path):\(index + 1)", skillIDs) {
                    samples.append(sample)
                } else {
                    skipped += 1
                }
            }
        }
        guard !samples.isEmpty else {
            throw SampleError(message: "\(paths.joined(separator: ", ")): no line holds a request")
        }
        return (samples, skipped)
    }

    /// What shows that a line is a sample already.
    private static let placeholders = ["{{token", "{{now}}", "{{uuid}}", "{{skillID}}", "{{grantCode"]

    private static func sample(
        line: ArraySlice<UInt8>, name: String, _ skillIDs: Set<String>
    ) throws(SampleError) -> Sample? {
        guard let start = line.firstIndex(of: UInt8(ascii: "{")),
            let value = try? JSONValue(parsing: Array(line[start...]))
        else { return nil }
        if value["request"]?["target"] != nil {
            return Sample(name: name, template: "", steps: [try SampleStep(value, of: name)])
        }
        guard let request = request(in: value) else { return nil }
        let text = String(decoding: request.encoded(), as: UTF8.self)
        if placeholders.contains(where: { text.contains($0) }) {
            return try Sample(
                name: name, template: text, expected: request == value ? nil : value["response"] ?? value["expected"])
        }
        var template = RequestTemplate(skillIDs: skillIDs)
        let body = String(decoding: template.body(request, at: nil).encoded(), as: UTF8.self)
        let answer = request == value ? nil : value["response"] ?? value["expected"]
        return try Sample(name: name, template: body, expected: answer.map { template.expected($0, at: nil) })
    }

    /// What Alexa sent, wherever a line keeps it.
    private static func request(in value: JSONValue) -> JSONValue? {
        if value["directive"]?["header"] != nil || value["request"]?["type"]?.string != nil { return value }
        for name in ["request", "event", "body"] {
            guard var inner = value[name] else { continue }
            if let text = inner.string, let parsed = try? JSONValue(parsing: Array(text.utf8)) { inner = parsed }
            if inner["directive"]?["header"] != nil || inner["request"]?["type"]?.string != nil { return inner }
        }
        return nil
    }

    private static func requests(in folder: String) -> [String] {
        let found = (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
        let requests = found.filter { name in
            name.hasSuffix(".json") && stem(of: name) + ".json" == name
                && !name.split(separator: "/").contains("website")
        }
        return requests.sorted().map { name in
            (folder.hasSuffix("/") ? folder : folder + "/") + name
        }
    }

    /// A path without what makes it a request or an answer.
    private static func stem(of path: String) -> String {
        let ends = [".expected.json"] + TokenState.allCases.map { ".expected.\($0.rawValue).json" } + [".json"]
        guard let end = ends.first(where: { path.hasSuffix($0) }) else { return path }
        return String(path.dropLast(end.count))
    }

    private static func load(file: String) throws(SampleError) -> Sample {
        let stem = stem(of: file)
        let request = stem == file ? file : stem + ".json"
        guard let template = read(request) else { throw SampleError(message: "\(request) cannot be read") }
        var byState: [TokenState: JSONValue] = [:]
        for state in TokenState.allCases { byState[state] = try answer("\(stem).expected.\(state.rawValue).json") }
        return try Sample(
            name: stem, template: String(decoding: template, as: UTF8.self),
            expected: try answer(stem + ".expected.json"), expectedByState: byState)
    }

    private static func answer(_ path: String) throws(SampleError) -> JSONValue? {
        guard let bytes = read(path) else { return nil }
        do { return try JSONValue(parsing: bytes) } catch { throw SampleError(message: "\(path): \(error.reason)") }
    }

    private static func read(_ path: String) -> [UInt8]? {
        (try? Data(contentsOf: URL(filePath: path))).map { Array($0) }
    }
}
