import Crypto
import JSON

/// An object of the configuration, read by the table of keys: what the file says, else the table's default.
///
/// A value that the table refuses reads as a default or as nothing: its fault is noted already, and the result is never
/// used.
struct Section {
    let object: JSONObject
    let node: KeyNode
    let path: String
    let judge: ValueJudge

    /// The full path of a key.
    func path(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

    /// Whether the file gives the key.
    func has(_ key: String) -> Bool { object[key] != nil }

    func section(_ key: String) -> Section? {
        guard let object = object[key]?.object, let node = node.child(key) else { return nil }
        return Section(object: object, node: node, path: path(key), judge: judge)
    }

    /// A section that is read even where the file leaves it out, for its defaults.
    func sectionOrEmpty(_ key: String) -> Section {
        section(key) ?? Section(object: JSONObject(), node: node.child(key) ?? node, path: path(key), judge: judge)
    }

    func sections(_ key: String) -> [Section] {
        guard let node = node.child(key) else { return [] }
        return (object[key]?.array ?? []).enumerated().compactMap { index, value in
            value.object.map { Section(object: $0, node: node, path: "\(path(key))[\(index)]", judge: judge) }
        }
    }

    private func value(_ key: String) -> JSONValue? {
        guard let rule = node.child(key)?.rule else { return nil }
        if let value = object[key], judge.faults(of: value, as: rule.kind).isEmpty { return value }
        return rule.standard
    }

    func flag(_ key: String) -> Bool { value(key)?.bool ?? false }
    func optionalFlag(_ key: String) -> Bool? { value(key)?.bool }
    func integer(_ key: String) -> Int64 { value(key)?.integer ?? 0 }
    func text(_ key: String) -> String { optionalText(key) ?? "" }
    func optionalText(_ key: String) -> String? { value(key)?.string }
    func texts(_ key: String) -> [String] { (value(key)?.array ?? []).compactMap(\.string) }
    func optionalTexts(_ key: String) -> [String]? { value(key)?.array?.compactMap(\.string) }

    /// An address without the slash at its end, such that a path can follow.
    func optionalBase(_ key: String) -> String? {
        optionalText(key).map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
    }

    func optionalPath(_ key: String) -> String? { optionalText(key).map(judge.source.resolved) }
    func file(_ key: String) -> String { optionalPath(key) ?? "" }

    func optionalSecret(_ key: String) -> Secret? { object[key].flatMap { try? judge.secret($0).get() } }
    func secret(_ key: String) -> Secret { optionalSecret(key) ?? Secret("") }

    func choice<Choice: RawRepresentable>(_ key: String, else standard: Choice) -> Choice
    where Choice.RawValue == String {
        optionalChoice(key) ?? standard
    }

    func optionalChoice<Choice: RawRepresentable>(_ key: String) -> Choice? where Choice.RawValue == String {
        optionalText(key).flatMap(Choice.init)
    }

    func choices<Choice: RawRepresentable & Hashable>(_ key: String) -> Set<Choice> where Choice.RawValue == String {
        Set(texts(key).compactMap(Choice.init))
    }

    func localized(_ key: String) -> LocalizedText? { value(key)?.object.map(Self.localized) }

    func localizedByName(_ key: String) -> [String: LocalizedText] {
        var texts: [String: LocalizedText] = [:]
        for (name, value) in value(key)?.object ?? [:] { texts[name] = value.object.map(Self.localized) }
        return texts
    }

    private static func localized(_ object: JSONObject) -> LocalizedText {
        var texts: [String: String] = [:]
        for (locale, value) in object { texts[locale] = value.string }
        return LocalizedText(texts)
    }
}
