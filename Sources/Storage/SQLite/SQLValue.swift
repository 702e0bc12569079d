/// A value that SQLite keeps.
enum SQLValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case text(String)
    case blob([UInt8])

    static func optional(_ text: String?) -> SQLValue { text.map(SQLValue.text) ?? .null }
}

/// One row of an answer, by the place of its columns.
struct Row: Sendable {
    let values: [SQLValue]

    /// The integer of that column; 0 for anything else, which the schema's STRICT tables rule out.
    func integer(_ column: Int) -> Int64 {
        if case .integer(let number) = values[column] { number } else { 0 }
    }

    func optionalInteger(_ column: Int) -> Int64? {
        if case .integer(let number) = values[column] { number } else { nil }
    }

    func text(_ column: Int) -> String {
        if case .text(let text) = values[column] { text } else { "" }
    }

    func optionalText(_ column: Int) -> String? {
        if case .text(let text) = values[column] { text } else { nil }
    }

    func blob(_ column: Int) -> [UInt8] {
        if case .blob(let bytes) = values[column] { bytes } else { [] }
    }
}
