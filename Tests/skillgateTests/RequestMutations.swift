import HTTP
import Testing

/// Numbers that come out the same each time, such that a failure can be repeated.
struct FixedRandom: RandomNumberGenerator {
    var state: UInt64

    /// SplitMix64, by its published constants.
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// Parameters as they stand in a query or form, encoded, so that wrong encodings can be written too.
struct MutableForm: Sendable {
    /// A name and a value, and what stands between them.
    struct Item: Sendable {
        var name: [UInt8]
        var value: [UInt8]
        var separator: [UInt8] = [UInt8(ascii: "=")]
    }

    var items: [Item]

    init(_ items: [(String, String)]) {
        self.items = items.map { Item(name: Array($0.utf8), value: Array(percentEncoded($1).utf8)) }
    }

    var bytes: [UInt8] {
        Array(items.map { $0.name + $0.separator + $0.value }.joined(separator: [UInt8(ascii: "&")]))
    }

    /// Changes the form in one way.
    ///
    /// - Returns: What was done, for whoever reads a failure.
    mutating func mutate(by random: inout FixedRandom) -> String {
        guard !items.isEmpty else { return "nothing left" }
        let place = Int.random(in: 0..<items.count, using: &random)
        let name = String(decoding: items[place].name, as: UTF8.self)
        switch Int.random(in: 0..<16, using: &random) {
        case 0:
            items.remove(at: place)
            return "\(name) dropped"
        case 1:
            items.append(items[place])
            return "\(name) doubled"
        case 2:
            items[place].value = []
            return "\(name) emptied"
        case 3:
            items[place].name = [UInt8](
                ["Client_Id", "code ", "redirect_uri[]", "x", "", "state%00"].picked(&random).utf8)
            return "\(name) renamed"
        case 4:
            let other = [UInt8](["other", "", "code", "%20", "alexa", "phone"].picked(&random).utf8)
            items.insert(Item(name: items[place].name, value: other), at: 0)
            return "\(name) given before with another value"
        case 5:
            items[place].value += [UInt8](repeating: UInt8(ascii: "A"), count: [300, 5000, 20_000].picked(&random))
            return "\(name) huge"
        case 6:
            items[place].value += [UInt8](["%", "%4", "%zz", "%u0041", "%%41"].picked(&random).utf8)
            return "\(name) with a bad escape"
        case 7:
            items[place].value += [UInt8](["%FF", "%C0%AF", "%ED%A0%80", "%F5%80%80%80", "%80"].picked(&random).utf8)
            return "\(name) no UTF-8"
        case 8:
            items[place].value += [UInt8](
                ["%0D%0ASet-Cookie:%20a=b", "%00", "%0A%0A", "%09", "%7F"].picked(&random).utf8)
            return "\(name) with control characters"
        case 9, 10: return flipByte(at: place, name, &random)
        case 11:
            items[place].separator = [UInt8](["", "==", "=%3D", ":", ";"].picked(&random).utf8)
            return "\(name) cut otherwise"
        case 12:
            items.swapAt(place, Int.random(in: 0..<items.count, using: &random))
            return "the order changed"
        case 13:
            items[place].value = [UInt8](Self.words.picked(&random).utf8)
            return "\(name) with another's word"
        default: return redirect(&random)
        }
    }

    private static let words = [
        "code", "token", "code%20token", "password", "alexa", "phone", "web", "back-end", "plain", "S256", "none",
        "admin",
        "profile", "profile%20profile", "refresh_token", "client_credentials", "javascript:alert(1)", "%3Cscript%3E",
        "-1",
    ]

    private mutating func flipByte(at place: Int, _ name: String, _ random: inout FixedRandom) -> String {
        guard !items[place].value.isEmpty else { return "nothing" }
        let at = Int.random(in: 0..<items[place].value.count, using: &random)
        items[place].value[at] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        return "\(name) with a bit flipped"
    }

    private mutating func redirect(_ random: inout FixedRandom) -> String {
        guard let place = items.firstIndex(where: { $0.name == Array("redirect_uri".utf8) }),
            let text = percentDecoded(String(decoding: items[place].value, as: UTF8.self)),
            let miss = Self.nearMisses(of: text).randomElement(using: &random)
        else { return "no address" }
        items[place].value = Array(percentEncoded(miss).utf8)
        return "sent to \(miss)"
    }

    /// Addresses that are nearly the one given, and lead elsewhere or might.
    static func nearMisses(of address: String) -> [String] {
        guard let colon = address.firstIndex(of: ":") else { return [] }
        let rest = String(address[address.index(after: colon)...].drop { $0 == "/" })
        let scheme = String(address[..<colon])
        let host = String(rest.prefix { $0 != "/" && $0 != "?" })
        let path = String(rest.dropFirst(host.count))
        return [
            "\(scheme)://evil.test", "\(scheme)://evil.test/\(rest)", "\(scheme)://\(host)@evil.test\(path)",
            "\(scheme)://user@\(host)\(path)", "\(scheme)://\(host):443\(path)", "\(scheme)://\(host):8443\(path)",
            "\(scheme)://\(host.uppercased())\(path)", "\(scheme)://\(host)\(path.uppercased())", "\(address)/",
            "\(address)x", "\(address)?x=1", "\(address)&x=1", "\(address)#fragment", "\(address)#",
            "\(scheme)://\(host).evil.test\(path)", "\(scheme)://\(host).\(path)", "\(scheme)://\(host)%2F\(path)",
            "\(scheme)://\(host)\(path.replacing("/", with: "%2F"))",
            "\(scheme)://\(host)\(path.replacing("/", with: "//"))",
            "\(scheme)://\(host)/..\(path)", "\(scheme)://\(host)/%2e%2e\(path)", "\(address)/../evil",
            "\(address)/%2e%2e",
            "\(scheme):\\\\\(host)\(path)", "\(scheme)://\(host)\\@evil.test\(path)", "\(scheme)://evil.test\\\(rest)",
            "\(scheme):///\(rest)", "\(scheme):/\(rest)", "//\(rest)", "///evil.test", "/\\evil.test", "\\\\evil.test",
            "http://\(rest)", "\(scheme.uppercased())://\(rest)", " \(address)", "\(address) ", "\(address)\t",
            "\(address)\r\nX: y", "\(address)\0", "javascript:alert(1)//\(rest)", "data:text/html,x", "", "/",
            "/oauth/authorize",
            "\(scheme)://127.0.0.1\(path)", "\(scheme)://[::1]\(path)",
            "\(scheme)://\(host.replacing("e", with: "\u{435}"))\(path)",
        ].filter { $0 != address }
    }
}

extension [String] {
    func picked(_ random: inout FixedRandom) -> String { randomElement(using: &random) ?? "" }
}

extension [Int] {
    func picked(_ random: inout FixedRandom) -> Int { randomElement(using: &random) ?? 0 }
}
