/// A text in several languages, by locale: `en-US`, `de`.
public struct LocalizedText: Sendable, Hashable {
    /// The text of each locale that has one.
    public let byLocale: [String: String]

    /// A text by locale.
    public init(_ byLocale: [String: String]) { self.byLocale = byLocale }

    /// The text for `locale`: its own, that of its language's main country, that of the language, that of
    /// `defaultLocale`; nil where there is none of them.
    public func text(for locale: String?, defaultLocale: String) -> String? {
        Locales.firstValue(in: byLocale, for: locale, defaultLocale: defaultLocale)
    }
}

/// The way from a locale to the texts that may stand in for its own.
public enum Locales {
    /// The locale of the service's own texts where nothing else is known.
    public static let fallback = "en-US"

    /// `de-AT`, `de-DE`, `de` for `de-AT`: the locale, its language's main country, its language.
    public static func chain(for locale: String) -> [String] {
        let language = String(locale.prefix { $0 != "-" })
        let main = language + "-" + (mainCountry[language] ?? language.uppercased())
        var chain: [String] = []
        for name in [locale, main, language] where !chain.contains(name) { chain.append(name) }
        return chain
    }

    /// Whether `name` is written as `ll` or `ll-CC`.
    public static func isWellFormed(_ name: String) -> Bool {
        let parts = name.split(separator: "-", omittingEmptySubsequences: false)
        guard let language = parts.first, language.utf8.count == 2 || language.utf8.count == 3,
            language.utf8.allSatisfy({ (97...122).contains($0) })
        else { return false }
        switch parts.count {
        case 1: return true
        case 2: return parts[1].utf8.count == 2 && parts[1].utf8.allSatisfy { (65...90).contains($0) }
        default: return false
        }
    }

    static func firstValue<Value>(in values: [String: Value], for locale: String?, defaultLocale: String) -> Value? {
        if let locale {
            // Most often the locale has a text of its own.
            if let value = values[locale] ?? firstValue(in: values, along: chain(for: locale)) { return value }
        }
        return firstValue(in: values, along: chain(for: defaultLocale))
    }

    static func firstValue<Value>(in values: [String: Value], along chain: [String]) -> Value? {
        for name in chain {
            if let value = values[name] { return value }
        }
        return nil
    }

    /// Where the main country of a language has another name than the language.
    private static let mainCountry = [
        "en": "US", "ja": "JP", "pt": "BR", "hi": "IN", "ar": "SA", "sv": "SE", "da": "DK", "nb": "NO", "ko": "KR",
        "zh": "CN",
    ]
}

/// One fault of a file that the configuration names, and where it is.
public struct FileFault: Error, Hashable, Sendable {
    /// The place in the file, as `requests.RideStatusIntent.say`; empty for the file as a whole.
    public let path: String
    /// What is wrong there.
    public let problem: String

    /// A fault.
    public init(path: String, problem: String) {
        self.path = path
        self.problem = problem
    }
}

/// Every fault of a file at once.
public struct FileFaults: Error, Sendable {
    /// The faults, in the order of the file.
    public let faults: [FileFault]

    /// The given faults.
    public init(_ faults: [FileFault]) { self.faults = faults }
}
