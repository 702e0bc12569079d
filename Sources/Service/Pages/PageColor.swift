/// A colour, and how it goes with others (WCAG 2.2, "relative luminance" and "contrast ratio").
struct PageColor: Sendable, Hashable {
    let red: Int
    let green: Int
    let blue: Int

    static let white = PageColor(red: 255, green: 255, blue: 255)
    static let black = PageColor(red: 0, green: 0, blue: 0)
    static let ink = PageColor(red: 0x17, green: 0x1B, blue: 0x22)
    /// The card in light and in dark.
    static let lightCard = white
    static let darkCard = PageColor(red: 0x1C, green: 0x21, blue: 0x29)
    /// Where the company names none.
    static let fallback = PageColor(red: 0x1F, green: 0x5F, blue: 0xBF)

    init(red: Int, green: Int, blue: Int) {
        self.red = red
        self.green = green
        self.blue = blue
    }

    /// Reads `#0a7` or `#00aa77`.
    init?(hex text: String) {
        var digits = text.dropFirst().compactMap(\.hexDigitValue)
        guard text.first == "#", digits.count == text.count - 1 else { return nil }
        if digits.count == 3 { digits = digits.flatMap { [$0, $0] } }
        guard digits.count == 6 else { return nil }
        self.init(
            red: digits[0] * 16 + digits[1], green: digits[2] * 16 + digits[3], blue: digits[4] * 16 + digits[5])
    }

    var css: String { "rgb(\(red),\(green),\(blue))" }

    private var luminance: Double {
        func linear(_ value: Int) -> Double { Self.linear(Double(value) / 255) }
        return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
    }

    /// The curve of sRGB; its exponent 2.4 is 12/5, found by Newton's method, since no mathematics library is linked.
    private static func linear(_ value: Double) -> Double {
        guard value > 0.04045 else { return value / 12.92 }
        let base = (value + 0.055) / 1.055
        var root = 1.0
        for _ in 0..<40 { root -= (root * root * root * root * root - base) / (5 * root * root * root * root) }
        // base^(12/5) = base² · (base^(1/5))²
        return base * base * root * root
    }

    /// From 1, no difference, to 21, black on white.
    func contrast(to other: PageColor) -> Double {
        let (light, dark) = (max(luminance, other.luminance), min(luminance, other.luminance))
        return (light + 0.05) / (dark + 0.05)
    }

    /// White where it can be read on this colour, else black: one of the two always has a contrast of 4.5.
    var readable: PageColor { contrast(to: .white) >= 4.5 ? .white : .black }

    /// This colour, moved away from `background` until text of it can be read there.
    func readable(on background: PageColor, atLeast ratio: Double = 4.5) -> PageColor {
        let goal: PageColor = background.contrast(to: .white) > background.contrast(to: .ink) ? .white : .ink
        for step in 0...20 {
            let color = mixed(with: goal, parts: step, of: 20)
            if color.contrast(to: background) >= ratio { return color }
        }
        return goal
    }

    private func mixed(with other: PageColor, parts: Int, of whole: Int) -> PageColor {
        func mix(_ left: Int, _ right: Int) -> Int { (left * (whole - parts) + right * parts) / whole }
        return PageColor(red: mix(red, other.red), green: mix(green, other.green), blue: mix(blue, other.blue))
    }
}
