import Concurrency
public import JSON

/// A validator for the keywords of JSON schema, draft 4, that Amazon's schema of smart-home messages uses.
///
/// It is for tests that hold the program's own checks against that schema; an unknown keyword is an error, so that none
/// is passed over.
public struct SchemaValidator: Sendable {
    /// A keyword that this validator does not know.
    public struct UnknownKeyword: Error {
        /// The keyword.
        public let name: String
    }

    private static let annotations: Set<String> = [
        "$schema", "title", "description", "format", "definitions", "default", "discriminator", "nullable", "type:",
        "writeOnly",
    ]
    private static let known: Set<String> = [
        "$ref", "additionalItems", "additionalProperties", "allOf", "anyOf", "enum", "exclusiveMaximum",
        "exclusiveMinimum", "items", "maxItems", "maxLength", "maximum", "maxProperties", "minItems", "minLength",
        "minimum", "oneOf",
        "pattern", "properties", "required", "type", "uniqueItems",
    ]

    private let root: JSONValue
    private let answers = Locked<[[String]: Bool]>([:])

    /// A validator for that schema.
    ///
    /// - Throws: ``UnknownKeyword``.
    public init(_ schema: JSONValue) throws {
        root = schema
        try Self.check(schema)
    }

    /// The path of the first place that does not fit, for a message of the whole schema; nil where all fits.
    public func fault(in value: JSONValue) -> String? { fault(in: value, root, "") }

    /// The same for the part of the schema that a pointer such as `#/definitions/state.properties` names.
    public func fault(in value: JSONValue, at pointer: String) -> String? { fault(in: value, resolved(pointer), "") }

    private static func check(_ schema: JSONValue) throws {
        for (name, value) in schema.object ?? [:] {
            guard known.contains(name) || annotations.contains(name) else { throw UnknownKeyword(name: name) }
            switch name {
            case "properties": for (_, member) in value.object ?? [:] { try check(member) }
            case "definitions":
                for (_, group) in value.object ?? [:] {
                    // Either a schema, or a group of schemas.
                    if group["type"]?.string != nil {
                        try check(group)
                    } else {
                        for (_, member) in group.object ?? [:] { try check(member) }
                    }
                }
            case "allOf", "anyOf", "oneOf": for part in value.array ?? [] { try check(part) }
            case "items", "additionalProperties", "additionalItems": try check(value)
            default: break
            }
        }
    }

    private func resolved(_ pointer: String) -> JSONValue {
        pointer.split(separator: "/").dropFirst().reduce(root) { $0[String($1)] ?? .null }
    }

    private func fault(in value: JSONValue, _ schema: JSONValue, _ path: String) -> String? {
        if let pointer = schema["$ref"]?.string { return fault(in: value, resolved(pointer), path) }
        if let type = schema["type"]?.string, !isOf(type, value) { return path + ": not of type " + type }
        if let words = schema["enum"]?.array, !words.contains(value) { return path + ": not in enum" }
        if let parts = schema["allOf"]?.array {
            for part in parts { if let fault = fault(in: value, part, path) { return fault } }
        }
        if let parts = schema["anyOf"]?.array {
            let faults = parts.map { fault(in: value, $0, path) }
            if !faults.contains(nil) { return deepest(faults, path) }
        }
        if let parts = schema["oneOf"]?.array {
            let faults = parts.map { fault(in: value, $0, path) }
            let fitting = faults.count { $0 == nil }
            if fitting == 0 { return deepest(faults, path) }
            if fitting > 1 { return path + ": fits \(fitting) of oneOf" }
        }
        return numberFault(value, schema, path) ?? textFault(value, schema, path) ?? listFault(value, schema, path)
            ?? objectFault(value, schema, path)
    }

    private func deepest(_ faults: [String?], _ path: String) -> String {
        faults.compactMap(\.self).max { $0.split(separator: ":")[0].count < $1.split(separator: ":")[0].count }
            ?? path + ": fits none"
    }

    private func isOf(_ type: String, _ value: JSONValue) -> Bool {
        switch type {
        case "object": value.object != nil
        case "array": value.array != nil
        case "string": value.string != nil
        case "boolean": value.bool != nil
        case "number": value.double != nil
        case "integer": value.double.map { $0 == $0.rounded() } ?? false
        case "null": value.isNull
        default: false
        }
    }

    private func numberFault(_ value: JSONValue, _ schema: JSONValue, _ path: String) -> String? {
        guard let number = value.double else { return nil }
        if let minimum = schema["minimum"]?.double {
            let isExclusive = schema["exclusiveMinimum"]?.bool ?? false
            if isExclusive ? number <= minimum : number < minimum { return path + ": below minimum" }
        }
        if let maximum = schema["maximum"]?.double {
            let isExclusive = schema["exclusiveMaximum"]?.bool ?? false
            if isExclusive ? number >= maximum : number > maximum { return path + ": above maximum" }
        }
        return nil
    }

    private func textFault(_ value: JSONValue, _ schema: JSONValue, _ path: String) -> String? {
        guard let text = value.string else { return nil }
        let count = text.unicodeScalars.count
        if let least = schema["minLength"]?.integer, count < least { return path + ": too short" }
        if let most = schema["maxLength"]?.integer, count > most { return path + ": too long" }
        guard let pattern = schema["pattern"]?.string else { return nil }
        return matches(text, pattern) ? nil : path + ": pattern"
    }

    /// Whether the pattern is found in the text; what was asked before is remembered, since patterns are slow to read.
    private func matches(_ text: String, _ pattern: String) -> Bool {
        let question = [pattern, text]
        if let known = answers.withLock({ $0[question] }) { return known }
        guard let expression = try? Regex(pattern) else { return false }
        let answer = text.firstMatch(of: expression) != nil
        answers.withLock { $0[question] = answer }
        return answer
    }

    private func listFault(_ value: JSONValue, _ schema: JSONValue, _ path: String) -> String? {
        guard let list = value.array else { return nil }
        if let least = schema["minItems"]?.integer, list.count < least { return path + ": too few" }
        if let most = schema["maxItems"]?.integer, list.count > most { return path + ": too many" }
        if schema["uniqueItems"]?.bool == true, Set(list).count < list.count { return path + ": repeated" }
        guard let items = schema["items"] else { return nil }
        for (index, item) in list.enumerated() {
            if let fault = fault(in: item, items, "\(path)[\(index)]") { return fault }
        }
        return nil
    }

    private func objectFault(_ value: JSONValue, _ schema: JSONValue, _ path: String) -> String? {
        guard let object = value.object else { return nil }
        for name in schema["required"]?.array ?? [] where object[name.string ?? ""] == nil {
            return "\(path).\(name.string ?? ""): missing"
        }
        if let most = schema["maxProperties"]?.integer, object.count > most { return path + ": too many members" }
        let properties = schema["properties"]?.object ?? [:]
        for (name, member) in object {
            if let rule = properties[name] {
                if let fault = fault(in: member, rule, "\(path).\(name)") { return fault }
            } else if schema["additionalProperties"]?.bool == false {
                return "\(path).\(name): unexpected"
            } else if let rule = schema["additionalProperties"], rule.object != nil,
                let fault = fault(in: member, rule, "\(path).\(name)")
            {
                return fault
            }
        }
        return nil
    }
}
