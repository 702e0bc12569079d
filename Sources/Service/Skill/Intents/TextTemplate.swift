import Alexa

/// A text with places for values.
///
/// For example `Your {ride.vehicle} comes in {ride.minutes} minutes.` A text that begins with `<speak>` is SSML, and values put into it are escaped as XML text; any other is plain.
struct TextTemplate: Sendable, Hashable {
    enum Piece: Sendable, Hashable {
        case literal(String)
        case value(Reference)
    }

    let pieces: [Piece]
    let isSSML: Bool

    /// Reads a text; `resources` are the names that it may ask for.
    ///
    /// - Throws: ``TemplateFault`` at the first place that is none.
    init(_ text: String, resources: Set<String>) throws(TemplateFault) {
        let trimmed = text.drop { $0.isWhitespace }
        isSSML = trimmed.hasPrefix("<speak>")
        if isSSML, !markupIsBalanced(text) { throw TemplateFault("is not well-formed SSML") }
        if text.allSatisfy({ $0.isWhitespace }) { throw TemplateFault("is empty") }
        pieces = try splitPieces(text) { name throws(TemplateFault) in
            .value(try Reference(name, resources: resources))
        } literal: {
            .literal($0)
        }
    }

    /// Every value that the text asks for.
    var references: [Reference] {
        pieces.compactMap { if case .value(let reference) = $0 { reference } else { nil } }
    }

    /// The text with its values.
    ///
    /// - Throws: the first reference that has no value to be spoken.
    func rendered(_ value: (Reference) -> String?) throws(MissingValue) -> String {
        var text = ""
        for piece in pieces {
            switch piece {
            case .literal(let literal): text += literal
            case .value(let reference):
                guard let value = value(reference) else { throw MissingValue(reference: reference) }
                text += isSSML ? SpeechText.escapedForSSML(value) : value
            }
        }
        return text
    }
}

/// What a place in a text stands for.
enum Reference: Sendable, Hashable {
    /// The value that was spoken for a slot.
    case slot(String)
    /// The subject of the linked account.
    case subject
    /// A member of a fetched resource, by its path.
    case resource(String, path: [String])

    /// Reads `city`, `principal.subject` or `ride.vehicle.name`.
    ///
    /// - Throws: ``TemplateFault`` where it is none of the three.
    init(_ name: String, resources: Set<String>) throws(TemplateFault) {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard isName(parts[0]), parts.dropFirst().allSatisfy(isMemberName) else {
            throw TemplateFault("{\(bounded(name))} is not a name")
        }
        switch (parts[0], parts.count) {
        case ("principal", _):
            guard parts == ["principal", "subject"] else {
                throw TemplateFault("{\(bounded(name))}: of the principal only {principal.subject} is known")
            }
            self = .subject
        case (let first, 1) where resources.contains(first):
            throw TemplateFault("{\(bounded(name))} names a resource without a member of it")
        case (let first, 1): self = .slot(first)
        case (let first, _) where resources.contains(first): self = .resource(first, path: Array(parts.dropFirst()))
        default: throw TemplateFault("{\(bounded(name))} is no slot, no principal.subject and no resource named here")
        }
    }

    /// The reference as the file writes it.
    var name: String {
        switch self {
        case .slot(let name): name
        case .subject: "principal.subject"
        case .resource(let name, let path): ([name] + path).joined(separator: ".")
        }
    }
}

/// What is wrong with a text, path or reference.
struct TemplateFault: Error, Hashable, Sendable {
    let problem: String
    init(_ problem: String) { self.problem = problem }
}

/// A text asked for a value that is not there, or that cannot be spoken.
struct MissingValue: Error, Hashable, Sendable {
    let reference: Reference
}

/// Cuts a text of the file for a message.
func bounded(_ text: String) -> String { text.count <= 64 ? text : text.prefix(64) + "…" }

/// A name of letters, digits, `_` and `-` that does not begin with a digit or `-`.
func isName(_ text: some StringProtocol) -> Bool {
    guard let first = text.utf8.first, !(48...57).contains(first), first != 45 else { return false }
    return text.utf8.allSatisfy {
        (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) || $0 == 95 || $0 == 45
    }
}

/// A name of a member, or the index of an array's element.
private func isMemberName(_ text: String) -> Bool {
    isName(text) || (!text.isEmpty && text.utf8.allSatisfy { (48...57).contains($0) })
}

/// Splits a text at its places in braces.
func splitPieces<Piece>(
    _ text: String, place: (String) throws(TemplateFault) -> Piece, literal: (String) -> Piece
) throws(TemplateFault) -> [Piece] {
    var pieces: [Piece] = []
    var rest = text[...]
    while let brace = rest.firstIndex(where: { $0 == "{" || $0 == "}" }) {
        guard rest[brace] == "{" else { throw TemplateFault("has a } without its {") }
        if brace > rest.startIndex { pieces.append(literal(String(rest[..<brace]))) }
        let inside = rest[rest.index(after: brace)...]
        guard let end = inside.firstIndex(where: { $0 == "{" || $0 == "}" }), inside[end] == "}" else {
            throw TemplateFault("has a { without its }")
        }
        pieces.append(try place(String(inside[..<end])))
        rest = inside[inside.index(after: end)...]
    }
    if !rest.isEmpty { pieces.append(literal(String(rest))) }
    return pieces
}

/// Whether every tag of an SSML text is closed in its order, and the whole is one `speak` element.
private func markupIsBalanced(_ text: String) -> Bool {
    var open: [Substring] = []
    var rest = text.drop { $0.isWhitespace }
    var closedWhole = false
    while let start = rest.firstIndex(of: "<") {
        if closedWhole { return false }
        guard let end = rest[start...].firstIndex(of: ">") else { return false }
        let inside = rest[rest.index(after: start)..<end]
        rest = rest[rest.index(after: end)...]
        if inside.isEmpty || inside.contains("<") { return false }
        if inside.hasPrefix("/") {
            guard let last = open.popLast(), last == inside.dropFirst() else { return false }
            closedWhole = open.isEmpty
        } else if !inside.hasSuffix("/") {
            open.append(inside.prefix { !$0.isWhitespace })
        }
    }
    return closedWhole && open.isEmpty && rest.allSatisfy { $0.isWhitespace }
}
