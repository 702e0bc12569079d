/// What a head says of the message's length and host, judged without regard to how a parser would read it.
package struct HeadRules {
    /// How the body's end is found.
    package enum Framing: Hashable {
        /// There is no body.
        case none
        /// The body has that many bytes.
        case length(Int)
        /// The body comes in chunks.
        case chunked
    }

    private var hosts = 0
    private var hasBadHost = false
    private var lengths = 0
    private var length: Int? = 0
    private var hasTransferEncoding = false
    private var chunkedCodings = 0
    private var endsChunked = false
    private var hasBadName = false
    private var hasBadExpectation = false
    /// Whether the client waits for `100 Continue` before it sends the body.
    package private(set) var expectsContinue = false

    /// Nothing said yet.
    package init() {}

    /// Takes the next field line; `value` without surrounding blanks.
    package mutating func note(name: Span<UInt8>, value: Span<UInt8>) {
        if !isToken(name) { hasBadName = true }
        switch name.count {
        case 4 where equals(name, "host"):
            hosts += 1
            if !namesHost(value) { hasBadHost = true }
        case 6 where equals(name, "expect"):
            if equals(value, "100-continue") { expectsContinue = true } else { hasBadExpectation = true }
        case 14 where equals(name, "content-length"):
            lengths += 1
            length = number(value)
        case 17 where equals(name, "transfer-encoding"):
            hasTransferEncoding = true
            noteCodings(value)
        default: break
        }
    }

    /// How the body's end is found in a message of that version.
    ///
    /// - Throws: ``RequestFault`` where two readers could disagree.
    package func framing(isHTTP10: Bool) throws(RequestFault) -> Framing {
        if hasBadName { throw .fieldName }
        guard hosts == 1, !hasBadHost else { throw .host }
        if hasBadExpectation { throw .expectation }
        if hasTransferEncoding {
            guard !isHTTP10, endsChunked, chunkedCodings == 1 else { throw .transferEncoding }
            guard lengths == 0 else { throw .ambiguousLength }
            return .chunked
        }
        guard lengths <= 1, let length else { throw .contentLength }
        return length == 0 ? .none : .length(length)
    }

    /// Reads a list of codings, each with optional parameters: `gzip, chunked;name=value`.
    private mutating func noteCodings(_ value: Span<UInt8>) {
        var start = 0
        while start <= value.count {
            var end = start
            while end < value.count, value[end] != UInt8(ascii: ",") { end += 1 }
            var nameEnd = start
            while nameEnd < end, value[nameEnd] != UInt8(ascii: ";") { nameEnd += 1 }
            let name = value.extracting(start..<nameEnd)
            endsChunked = equals(name.extracting(textRange(name)), "chunked")
            if endsChunked { chunkedCodings += 1 }
            start = end + 1
        }
    }
}

/// The first line of a head, taken apart.
package struct RequestLine {
    /// Where the method is.
    package let method: Range<Int>
    /// Where the target is.
    package let target: Range<Int>
    /// Whether the version is 1.0; else it is 1.1.
    package let isHTTP10: Bool

    /// Takes apart the first line of `head` that is not empty: method, target and version with one blank between them.
    ///
    /// - Throws: ``RequestFault/requestLine`` for anything else.
    package init(head: Span<UInt8>) throws(RequestFault) {
        var start = 0
        while start < head.count, head[start] == 0x0d || head[start] == 0x0a { start += 1 }
        var end = start
        var blanks = (first: 0, second: 0, count: 0)
        while end < head.count, head[end] != 0x0d {
            if head[end] == 0x20 {
                blanks.count += 1
                if blanks.count == 1 { blanks.first = end } else { blanks.second = end }
            }
            end += 1
        }
        guard blanks.count == 2, blanks.first > start, blanks.second > blanks.first + 1 else { throw .requestLine }
        let version = head.extracting(blanks.second + 1..<end)
        guard version.count == 8, matches(version.extracting(0..<7), "HTTP/1."),
            version[7] == UInt8(ascii: "0") || version[7] == UInt8(ascii: "1")
        else { throw .requestLine }
        method = start..<blanks.first
        target = blanks.first + 1..<blanks.second
        isHTTP10 = version[7] == UInt8(ascii: "0")
    }
}

/// Where the text of `bytes` is, without blanks and tabs at either end.
func textRange(_ bytes: Span<UInt8>) -> Range<Int> {
    var (start, end) = (0, bytes.count)
    while start < end, bytes[start] == 0x20 || bytes[start] == 0x09 { start += 1 }
    while end > start, bytes[end - 1] == 0x20 || bytes[end - 1] == 0x09 { end -= 1 }
    return start..<end
}

/// Whether `bytes` is `name`, given in lower case, but for the case of letters.
func equals(_ bytes: Span<UInt8>, _ name: StaticString) -> Bool {
    guard bytes.count == name.utf8CodeUnitCount else { return false }
    for index in 0..<bytes.count {
        let byte = bytes[index]
        let lower = (65...90).contains(byte) ? byte | 32 : byte
        if unsafe lower != name.utf8Start[index] { return false }
    }
    return true
}

private func matches(_ bytes: Span<UInt8>, _ text: StaticString) -> Bool {
    guard bytes.count == text.utf8CodeUnitCount else { return false }
    for index in 0..<bytes.count where unsafe bytes[index] != text.utf8Start[index] { return false }
    return true
}

/// Whether `bytes` is a token of RFC 9110 §5.6.2.
private func isToken(_ bytes: Span<UInt8>) -> Bool {
    for index in 0..<bytes.count {
        let byte = bytes[index]
        let (high, low) = (UInt64(1) << UInt64(byte & 63), byte < 64)
        guard byte < 128, (low ? tokenBytes.0 : tokenBytes.1) & high != 0 else { return false }
    }
    return !bytes.isEmpty
}

/// The bytes of tokens, one bit each: those below 64 and those from there to 127.
private let tokenBytes: (UInt64, UInt64) = {
    let punctuation = Array("!#$%&'*+-.^_`|~".utf8)
    var (low, high) = (UInt64(0), UInt64(0))
    for byte in Array(0x30...0x39) + Array(0x41...0x5a) + Array(0x61...0x7a) + punctuation {
        if byte < 64 { low |= 1 << UInt64(byte) } else { high |= 1 << UInt64(byte - 64) }
    }
    return (low, high)
}()

/// Whether `bytes` can be a host with or without a port (RFC 3986 §3.2.2): no blank, path, userinfo or list.
private func namesHost(_ bytes: Span<UInt8>) -> Bool {
    for index in 0..<bytes.count {
        switch bytes[index] {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: continue
        case UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: ":"),
            UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "%"):
            continue
        default: return false
        }
    }
    return !bytes.isEmpty
}

/// A plain decimal number; nil for anything else, and for what does not fit.
private func number(_ bytes: Span<UInt8>) -> Int? {
    guard !bytes.isEmpty, bytes.count <= 18 else { return nil }
    var number = 0
    for index in 0..<bytes.count {
        let byte = bytes[index]
        guard (48...57).contains(byte) else { return nil }
        number = number * 10 + Int(byte - 48)
    }
    return number
}
