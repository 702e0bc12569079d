import Crypto
import JSON

/// Judges values by their kind, and reads those that stand for something outside of the file.
struct ValueJudge: Sendable {
    let source: ConfigurationSource
    let isDevelopment: Bool

    /// What is wrong with `value`, and how to mend it.
    ///
    /// A part's fault comes with what its path adds to the value's.
    func faults(of value: JSONValue, as kind: KeyKind) -> [(suffix: String, problem: String)] {
        switch kind {
        case .section, .sections: []
        case .flag: value.bool == nil ? [("", "write true or false")] : []
        case .integer(let range): whole(integer(value, range))
        case .text(let longest): whole(text(value, longest))
        case .choice(let words):
            whole(value.string.map(words.contains) == true ? nil : "write one of \(words.joined(separator: ", "))")
        case .url: whole(url(value))
        case .file: whole(file(value))
        case .secret: whole(failure(of: secret(value)))
        case .localized: localized(value)
        case .localizedByName: localizedByName(value)
        case .list(let kind, let most): list(value, kind, most)
        }
    }

    /// The secret that a value stands for.
    func secret(_ value: JSONValue) -> Result<Secret, SecretFault> {
        let forms = "{\"env\": \"NAME\"} or {\"file\": \"PATH\"}"
        if let literal = value.string {
            guard isDevelopment else {
                return .failure(SecretFault("a literal secret is taken in development alone: write \(forms)"))
            }
            return literal.isEmpty ? .failure(SecretFault("the secret is empty")) : .success(Secret(literal))
        }
        guard let object = value.object, object.count == 1, let (kind, content) = object.first(where: { _ in true }),
            let name = content.string, !name.isEmpty, kind == "env" || kind == "file"
        else { return .failure(SecretFault("write \(forms)\(isDevelopment ? ", or a text" : "")")) }
        if kind == "env" {
            guard let text = source.environment(name), !text.isEmpty else {
                return .failure(SecretFault("the environment variable \(name) is not set, or empty: set it"))
            }
            return .success(Secret(text))
        }
        guard let bytes = source.readFile(source.resolved(name)) else {
            return .failure(
                SecretFault("the file \(source.resolved(name)) cannot be read: create it, or mend the path"))
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            return .failure(SecretFault("the file \(source.resolved(name)) is not UTF-8"))
        }
        let trimmed = text.reversed().drop { $0.isNewline || $0 == " " }.reversed()
        guard !trimmed.isEmpty else {
            return .failure(SecretFault("the file \(source.resolved(name)) is empty: write the secret into it"))
        }
        return .success(Secret(String(trimmed)))
    }

    /// Why a secret cannot be had; never with a word of it.
    struct SecretFault: Error {
        let problem: String
        init(_ problem: String) { self.problem = problem }
    }

    private func failure(of result: Result<Secret, SecretFault>) -> String? {
        if case .failure(let fault) = result { fault.problem } else { nil }
    }

    private func whole(_ problem: String?) -> [(suffix: String, problem: String)] { problem.map { [("", $0)] } ?? [] }

    private func integer(_ value: JSONValue, _ range: ClosedRange<Int64>) -> String? {
        let expected = "write a whole number from \(range.lowerBound) to \(range.upperBound)"
        guard let integer = value.integer else { return expected }
        return range.contains(integer) ? nil : "\(integer) is out of range: \(expected)"
    }

    private func text(_ value: JSONValue, _ longest: Int) -> String? {
        guard let text = value.string else { return "write a text, in quotes" }
        guard !text.isEmpty else { return "the text is empty: fill it in, or leave the key out" }
        guard text.unicodeScalars.count <= longest else { return "the text is longer than \(longest) characters" }
        guard text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }) else {
            return "the text holds control characters"
        }
        return nil
    }

    private func url(_ value: JSONValue) -> String? {
        let expected = "write an address that begins with https://"
        guard let text = value.string, let address = WebAddress(text) else { return expected }
        guard address.isSecure || address.isLoopback else {
            return "http:// is taken for this machine alone (localhost, 127.0.0.1, [::1]): \(expected)"
        }
        return address.hasFragment ? "the address has a fragment: leave out # and what follows" : nil
    }

    private func file(_ value: JSONValue) -> String? {
        if let problem = text(value, 4096) { return problem }
        guard let path = value.string.map(source.resolved) else { return nil }
        return source.readFile(path) == nil ? "the file \(path) cannot be read: create it, or mend the path" : nil
    }

    private func localized(_ value: JSONValue) -> [(suffix: String, problem: String)] {
        guard let object = value.object, !object.isEmpty else {
            return [("", "write an object of texts by locale, as {\"en-US\": \"…\"}")]
        }
        return object.flatMap { locale, value -> [(suffix: String, problem: String)] in
            if !Locales.isWellFormed(locale) { return [(".\(locale)", "no locale: write it as en-US or en")] }
            return text(value, 8000).map { [(".\(locale)", $0)] } ?? []
        }
    }

    private func localizedByName(_ value: JSONValue) -> [(suffix: String, problem: String)] {
        guard let object = value.object else { return [("", "write an object, each member a text by locale")] }
        return object.flatMap { name, value in localized(value).map { (".\(name)\($0.suffix)", $0.problem) } }
    }

    private func list(_ value: JSONValue, _ kind: KeyKind, _ most: Int) -> [(suffix: String, problem: String)] {
        guard let array = value.array else { return [("", "write a list, in brackets")] }
        var faults: [(suffix: String, problem: String)] = []
        if array.count > most { faults.append(("", "\(array.count) are more than the \(most) that are possible")) }
        for (index, element) in array.enumerated() {
            faults += self.faults(of: element, as: kind).map { ("[\(index)]\($0.suffix)", $0.problem) }
            if array[..<index].contains(element) { faults.append(("[\(index)]", "stands twice: leave one out")) }
        }
        return faults
    }
}
