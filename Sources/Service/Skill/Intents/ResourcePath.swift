import HTTP

/// Where a resource is, below the provider's base address: `/rides/{city}?when={time}`.
///
/// A slot is one whole segment or one whole query value, percent-encoded; so what a user says never reaches another
/// part of the address.
struct ResourcePath: Sendable, Hashable {
    enum Piece: Sendable, Hashable {
        case literal(String)
        case segment(Reference)
        case queryValue(Reference)
    }

    let pieces: [Piece]

    /// Reads a path.
    ///
    /// - Throws: ``TemplateFault`` where it could leave the base address, or has a place that is no slot.
    init(_ text: String) throws(TemplateFault) {
        guard text.hasPrefix("/") else { throw TemplateFault("must begin with /") }
        guard text.utf8.allSatisfy({ $0 > 32 && $0 < 127 && !"\\\"<>^`|#".utf8.contains($0) }) else {
            throw TemplateFault("has a character that must be percent-encoded, or a fragment")
        }
        let path = text.prefix { $0 != "?" }
        let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        for (index, segment) in segments.enumerated() {
            guard let decoded = percentDecoded(segment) else { throw TemplateFault("has a malformed percent-encoding") }
            if decoded == "." || decoded == ".." { throw TemplateFault("has a segment . or ..") }
            if decoded.contains("/") || decoded.contains("\\") { throw TemplateFault("has an encoded slash") }
            if segment.isEmpty, index < segments.count - 1 { throw TemplateFault("has an empty segment") }
        }
        var isQuery = false
        var before: Character = "/"
        var needsEnd = false
        var pieces: [Piece] = []
        for piece in try TextTemplate.Piece.pieces(of: text) {
            switch piece {
            case .literal(let literal):
                if needsEnd, !endsPlace(literal, isQuery: isQuery) { throw Self.partialPlace }
                needsEnd = false
                if literal.contains("?") { isQuery = true }
                before = literal.last ?? before
                pieces.append(.literal(literal))
            case .value(let reference):
                guard !needsEnd, before == (isQuery ? "=" : "/") else { throw Self.partialPlace }
                pieces.append(isQuery ? .queryValue(reference) : .segment(reference))
                needsEnd = true
                before = "}"
            }
        }
        self.pieces = pieces
    }

    private static let partialPlace = TemplateFault("has a slot that is not a whole segment or query value")

    /// Every slot (and the subject) that the path asks for.
    var references: [Reference] {
        pieces.compactMap { piece in
            switch piece {
            case .literal: nil
            case .segment(let reference), .queryValue(let reference): reference
            }
        }
    }

    /// The path with its slots.
    ///
    /// - Throws: ``MissingValue`` for a slot without a value, or with one that would be `.` or `..` in the address.
    func filled(_ value: (Reference) -> String?) throws(MissingValue) -> String {
        var text = ""
        for piece in pieces {
            switch piece {
            case .literal(let literal): text += literal
            case .segment(let reference):
                guard let value = value(reference), !value.isEmpty, value != ".", value != ".." else {
                    throw MissingValue(reference: reference)
                }
                text += percentEncoded(value)
            case .queryValue(let reference):
                guard let value = value(reference) else { throw MissingValue(reference: reference) }
                text += percentEncoded(value)
            }
        }
        return text
    }
}

extension TextTemplate.Piece {
    fileprivate static func pieces(of text: String) throws(TemplateFault) -> [TextTemplate.Piece] {
        try splitPieces(text) { name throws(TemplateFault) in
            .value(try Reference(name, resources: []))
        } literal: {
            .literal($0)
        }
    }
}

/// Whether what follows a slot ends the segment or the value that the slot is.
private func endsPlace(_ literal: String, isQuery: Bool) -> Bool {
    guard let first = literal.first else { return true }
    return isQuery ? first == "&" : first == "/" || first == "?"
}
