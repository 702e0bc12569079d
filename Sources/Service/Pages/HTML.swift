/// A piece of a page: whatever text goes in comes out escaped, so that no value can become markup.
public struct HTML: Sendable, Hashable, ExpressibleByStringInterpolation {
    /// The markup.
    public let markup: String

    private init(markup: String) { self.markup = markup }

    /// Text; characters that mean something in markup are escaped.
    public init(text: some StringProtocol) { markup = Self.escaped(text) }

    /// Text, escaped as any other.
    public init(stringLiteral text: String) { self.init(text: text) }

    /// Nothing.
    public static let nothing = HTML(markup: "")

    /// Pieces one after the other.
    public init(_ pieces: [HTML]) { markup = pieces.map(\.markup).joined() }

    /// An element; an attribute whose value is nil is left out, one that is `""` stands for itself.
    public static func element(
        _ name: StaticString, _ attributes: KeyValuePairs<StaticString, String?> = [:], _ content: HTML...
    ) -> HTML {
        var markup = "<\(name)"
        for case (let attribute, let value?) in attributes { markup += " \(attribute)=\"\(escaped(value))\"" }
        markup += ">"
        if isVoid("\(name)") { return HTML(markup: markup) }
        return HTML(markup: markup + content.map(\.markup).joined() + "</\(name)>")
    }

    /// The style sheet of a page, which is ours word for word.
    static func style(_ sheet: PageStyle, nonce: String) -> HTML {
        HTML(markup: "<style nonce=\"\(escaped(nonce))\">\(sheet.css)</style>")
    }

    /// A whole document.
    static func document(_ root: HTML) -> HTML { HTML(markup: "<!DOCTYPE html>\n" + root.markup + "\n") }

    private static func isVoid(_ name: String) -> Bool {
        ["meta", "link", "input", "img", "br"].contains(name)
    }

    /// Also quotes, since the text may be an attribute's value; control characters have no place in a page.
    private static func escaped(_ text: some StringProtocol) -> String {
        var result = ""
        result.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            case "\n", "\t": result.unicodeScalars.append(scalar)
            case "\u{0}"..<"\u{20}", "\u{7F}"..<"\u{A0}": result += "\u{FFFD}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
