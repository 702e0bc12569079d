internal import Glibc

/// A set of network addresses: single ones and blocks, `127.0.0.1`, `::1`, `10.0.0.0/8`.
public struct AddressSet: Sendable {
    private struct Block: Sendable {
        let bytes: [UInt8]
        let bits: Int
    }

    private var blocks: [Block] = []

    /// No address.
    public static let none = AddressSet()

    private init() {}

    /// The given addresses and blocks; nil where one is neither.
    public init?(_ texts: [String]) {
        for text in texts {
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            guard let address = addressBytes(String(parts[0])), parts.count <= 2 else { return nil }
            var bits = address.count * 8
            if parts.count == 2 {
                guard let number = Int(parts[1]), (0...bits).contains(number) else { return nil }
                bits = number
            }
            blocks.append(Block(bytes: address, bits: bits))
        }
    }

    /// Whether there is no address in it.
    public var isEmpty: Bool { blocks.isEmpty }

    /// Whether the address written in `text` is in it; false where it is no address.
    public func contains(_ text: String) -> Bool {
        guard !blocks.isEmpty, let address = addressBytes(text) else { return false }
        return blocks.contains { block in
            guard block.bytes.count == address.count else { return false }
            let whole = block.bits / 8
            guard block.bytes[..<whole] == address[..<whole] else { return false }
            let rest = block.bits % 8
            guard rest > 0 else { return true }
            return (block.bytes[whole] ^ address[whole]) >> (8 - UInt8(rest)) == 0
        }
    }

    /// Whom a request comes from: the peer, or where the peer is in this set, whom it says it passes on for.
    ///
    /// Read from the right, since each proxy adds whom it saw; the first address that is not in the set counts.
    /// Text that is no address ends the search at the address before it.
    public func origin(peer: String, forwardedFor: [String]) -> String {
        guard contains(peer) else { return peer }
        var origin = peer
        for value in forwardedFor.reversed() {
            for part in value.split(separator: ",", omittingEmptySubsequences: false).reversed() {
                let text = String(part.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" })
                guard addressBytes(text) != nil else { return origin }
                origin = text
                if !contains(text) { return origin }
            }
        }
        return origin
    }
}

/// The 4 or 16 bytes of an address; an IPv4 address inside IPv6 counts as IPv4.
private func addressBytes(_ text: String) -> [UInt8]? {
    var four = in_addr()
    if unsafe inet_pton(AF_INET, text, &four) == 1 { return unsafe withUnsafeBytes(of: four) { unsafe Array($0) } }
    var sixteen = in6_addr()
    guard unsafe inet_pton(AF_INET6, text, &sixteen) == 1 else { return nil }
    let bytes = unsafe withUnsafeBytes(of: sixteen) { unsafe Array($0) }
    let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xff && bytes[11] == 0xff
    return isMapped ? Array(bytes[12...]) : bytes
}
