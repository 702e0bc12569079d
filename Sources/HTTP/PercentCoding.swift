/// Decodes `%xx`; nil where an escape is malformed or the result is not UTF-8.
public func percentDecoded(_ text: some StringProtocol) -> String? {
    decoded(text, plusIsBlank: false)
}

/// Encodes everything but the unreserved characters of RFC 3986 §2.3, so that the text is one path segment or value.
public func percentEncoded(_ text: some StringProtocol) -> String {
    encoded(text, blankIsPlus: false)
}

func decoded(_ text: some StringProtocol, plusIsBlank: Bool) -> String? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count)
    var iterator = text.utf8.makeIterator()
    while let byte = iterator.next() {
        switch byte {
        case UInt8(ascii: "%"):
            guard let high = iterator.next().flatMap(hexValue), let low = iterator.next().flatMap(hexValue) else {
                return nil
            }
            bytes.append(high << 4 | low)
        case UInt8(ascii: "+") where plusIsBlank: bytes.append(UInt8(ascii: " "))
        default: bytes.append(byte)
        }
    }
    return String(validating: bytes, as: UTF8.self)
}

func encoded(_ text: some StringProtocol, blankIsPlus: Bool) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count)
    for byte in text.utf8 {
        switch byte {
        case 48...57, 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
            bytes.append(byte)
        case UInt8(ascii: " ") where blankIsPlus: bytes.append(UInt8(ascii: "+"))
        default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
    }
    return String(decoding: bytes, as: UTF8.self)
}

private func hexValue(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 48...57: byte - 48
    case 65...70: byte - 55
    case 97...102: byte - 87
    default: nil
    }
}
