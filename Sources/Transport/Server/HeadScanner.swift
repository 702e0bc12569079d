/// Why a request is answered by the server itself, and the connection closed.
package enum RequestFault: String, Error, Hashable, Sendable {
    /// A control character in the head, or a CR or LF that is not part of a line's end.
    case controlCharacter
    /// A line that goes on on the next line, which RFC 9112 §5.2 takes out of HTTP.
    case foldedField
    /// The first line is not `METHOD SP TARGET SP HTTP/1.0` or `HTTP/1.1`.
    case requestLine
    /// A field name that is no token, for example with a blank before the colon.
    case fieldName
    /// No `Host`, several, or one that names no host.
    case host
    /// A `Content-Length` that is no plain number, or two of them.
    case contentLength
    /// A `Transfer-Encoding` whose last and only coding of that name is not `chunked`, or one in HTTP/1.0.
    case transferEncoding
    /// Both `Transfer-Encoding` and `Content-Length` (RFC 9112 §6.1).
    case ambiguousLength
    /// Something else that the parser refuses, in the head or between chunks.
    case malformed
    /// An `Expect` other than `100-continue`.
    case expectation
    /// A head over its limit.
    case headTooLarge
    /// A body over its limit.
    case bodyTooLarge

    /// What it is answered with.
    package var status: Int {
        switch self {
        case .expectation: 417
        case .headTooLarge: 431
        case .bodyTooLarge: 413
        default: 400
        }
    }
}

/// Finds the end of a request head, and refuses bytes that parsers are known to read differently.
///
/// It sees every byte once, in whatever pieces they come. What it lets through has lines that end in CRLF, no line
/// that continues another, and no control character but tabs in field values.
package struct HeadScanner {
    /// What the bytes so far amount to.
    package enum Verdict: Hashable {
        /// The head goes on.
        case more
        /// The head ends with that many bytes of the last piece.
        case complete(Int)
        /// The head is refused.
        case refused(RequestFault)
    }

    private enum Place {
        case before, beforeLF, requestLine, fieldLine, lineLF, lineStart, endLF
    }

    private var place = Place.before

    /// At the start of a head.
    package init() {}

    /// Whether anything but blank lines has come.
    package var hasBegun: Bool {
        switch place {
        case .before, .beforeLF: false
        default: true
        }
    }

    /// Takes the next piece.
    package mutating func scan(_ bytes: Span<UInt8>) -> Verdict {
        let count = bytes.count
        var index = 0
        var place = self.place
        while index < count {
            let byte = unsafe bytes[unchecked: index]
            switch place {
            case .requestLine, .fieldLine:
                // Most bytes end here, so the rest of the line is gone through at once.
                if isVisible(byte) {
                    repeat { index += 1 } while index < count && isVisible(unsafe bytes[unchecked: index])
                    continue
                }
                if byte == 0x09 && place == .fieldLine { break }
                guard byte == 0x0d else { return .refused(.controlCharacter) }
                place = .lineLF
            case .lineLF:
                guard byte == 0x0a else { return .refused(.controlCharacter) }
                place = .lineStart
            case .lineStart:
                switch byte {
                case 0x0d: place = .endLF
                case 0x20, 0x09: return .refused(.foldedField)
                case 0..<0x20, 0x7f: return .refused(.controlCharacter)
                default: place = .fieldLine
                }
            case .endLF:
                return byte == 0x0a ? .complete(index + 1) : .refused(.controlCharacter)
            case .before:
                // Empty lines before a request are skipped (RFC 9112 §2.2).
                switch byte {
                case 0x0d: place = .beforeLF
                case 0...0x20, 0x7f: return .refused(.controlCharacter)
                default: place = .requestLine
                }
            case .beforeLF:
                guard byte == 0x0a else { return .refused(.controlCharacter) }
                place = .before
            }
            index += 1
        }
        self.place = place
        return .more
    }
}

/// Whether a byte may stand anywhere in a head's lines: no control character.
@inline(__always)
private func isVisible(_ byte: UInt8) -> Bool { byte >= 0x20 && byte != 0x7f }
