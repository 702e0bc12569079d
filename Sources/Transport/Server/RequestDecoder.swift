internal import CLLHTTP
package import HTTP

/// Turns the bytes of a connection into requests, one at a time.
///
/// The scanner and the rules judge a head before the parser reads it; the parser, llhttp, then reads every byte of head
/// and body. No socket and no clock: a test feeds it bytes.
@safe package final class RequestDecoder {
    /// The limits of one request.
    package struct Limits: Sendable {
        /// Bytes of a head.
        package var headBytes: Int
        /// Bytes of a body.
        package var bodyBytes: Int
        /// Field lines of a head.
        package var fieldLines: Int

        /// The given limits.
        package init(headBytes: Int, bodyBytes: Int, fieldLines: Int = 256) {
            self.headBytes = headBytes
            self.bodyBytes = bodyBytes
            self.fieldLines = fieldLines
        }
    }

    /// A whole request.
    package struct Request: Sendable {
        /// The method.
        package var method: HTTPMethod
        /// Path and query.
        package var target: String
        /// The header fields.
        package var fields: HTTPFields
        /// The body, with room for 64 bytes more in its storage: the JSON parser reads that far.
        package var body: [UInt8]
        /// Whether it came as HTTP/1.0.
        package var isHTTP10: Bool
        /// Whether the client goes on with this connection.
        package var keepsAlive: Bool
    }

    /// What bytes led to.
    package enum Outcome {
        /// All bytes are taken, and the request goes on.
        case more
        /// The request is whole; bytes after it are left.
        case request(Request)
        /// The request is refused; no more bytes are taken.
        case refused(RequestFault)
    }

    private enum Place { case head, body, failed }

    private let limits: Limits
    private let parser: UnsafeMutablePointer<llhttp_t>
    private var place = Place.head
    private var scanner = HeadScanner()
    /// The head so far, where it came in pieces.
    private var headBytes: [UInt8] = []
    private var rules = HeadRules()
    private var request = Request(
        method: .get, target: "", fields: [:], body: [], isHTTP10: false, keepsAlive: false)
    private var fieldName: (start: UnsafePointer<UInt8>, count: Int)?
    private var isHeadRead = false
    private var fault: RequestFault?
    /// Bytes between head and end that were no body: sizes of chunks, their extensions, trailing fields.
    private var framingBytes = 0

    /// A decoder at the start of a connection.
    package init(limits: Limits) {
        self.limits = limits
        unsafe parser = .allocate(capacity: 1)
        unsafe parser.initialize(to: llhttp_t())
        unsafe llhttp_init(parser, HTTP_REQUEST, parserSettings)
        unsafe parser.pointee.data = Unmanaged.passUnretained(self).toOpaque()
    }

    deinit { unsafe parser.deallocate() }

    /// Whether a request has begun that is not whole yet.
    package var hasBegun: Bool { place != .head || scanner.hasBegun }

    /// Whether the client waits for `100 Continue`; asked after ``Outcome/more``, and true once a request.
    package func takeContinue() -> Bool {
        guard place == .body, rules.expectsContinue, !request.isHTTP10, request.body.isEmpty else { return false }
        defer { rules = HeadRules() }
        return true
    }

    /// Takes bytes, and tells how many.
    package func feed(_ bytes: Span<UInt8>) -> (taken: Int, outcome: Outcome) {
        switch place {
        case .head: return feedHead(bytes)
        case .body: return feedBody(bytes, from: 0)
        case .failed: return (0, .refused(fault ?? .malformed))
        }
    }

    private func feedHead(_ bytes: Span<UInt8>) -> (taken: Int, outcome: Outcome) {
        let verdict = scanner.scan(bytes)
        switch verdict {
        case .refused(let fault): return fail(fault)
        case .more:
            guard headBytes.count + bytes.count < limits.headBytes else { return fail(.headTooLarge) }
            append(bytes, to: &headBytes)
            return (bytes.count, .more)
        case .complete(let count):
            guard headBytes.count + count <= limits.headBytes else { return fail(.headTooLarge) }
            let isWhole: Bool
            if headBytes.isEmpty {
                isWhole = readHead(bytes.extracting(0..<count))
            } else {
                append(bytes.extracting(0..<count), to: &headBytes)
                let head = headBytes
                headBytes = []
                isWhole = readHead(head.span)
            }
            if let fault { return fail(fault) }
            if isWhole { return (count, .request(takeRequest())) }
            place = .body
            return feedBody(bytes, from: count)
        }
    }

    /// Reads a whole head; true where the request ends with it.
    private func readHead(_ head: Span<UInt8>) -> Bool {
        var maskedTarget: [UInt8]?
        do throws(RequestFault) {
            let line = try RequestLine(head: head)
            request.isHTTP10 = line.isHTTP10
            request.method = HTTPMethod(rawValue: text(head.extracting(line.method)))
            request.target = originForm(text(head.extracting(line.target)))
            maskedTarget = masked(head, in: line.target)
        } catch {
            fault = error
            return false
        }
        rules = HeadRules()
        isHeadRead = false
        let (result, _) = maskedTarget.map { execute($0.span) } ?? execute(head)
        if fault == nil, result != HPE_OK, result != HPE_PAUSED { fault = parserFault(result) }
        return result == HPE_PAUSED
    }

    private func feedBody(_ bytes: Span<UInt8>, from start: Int) -> (taken: Int, outcome: Outcome) {
        guard start < bytes.count else { return (start, .more) }
        let before = request.body.count
        let (result, taken) = execute(bytes.extracting(start..<bytes.count))
        if result != HPE_OK, result != HPE_PAUSED { return fail(fault ?? .malformed) }
        framingBytes += taken - (request.body.count - before)
        // Chunks of one byte each take six; what goes beyond that and a head's worth is no honest sender.
        guard framingBytes <= limits.headBytes + 8 * request.body.count else { return fail(.malformed) }
        return (start + taken, result == HPE_PAUSED ? .request(takeRequest()) : .more)
    }

    /// What the parser has against a head that got past the scanner.
    private func parserFault(_ result: llhttp_errno) -> RequestFault {
        let flags = unsafe UInt32(parser.pointee.flags)
        let (hasLength, hasCoding) = (flags & F_CONTENT_LENGTH.rawValue != 0, flags & F_TRANSFER_ENCODING.rawValue != 0)
        switch result {
        case HPE_INVALID_CONTENT_LENGTH, HPE_UNEXPECTED_CONTENT_LENGTH:
            return hasCoding ? .ambiguousLength : .contentLength
        case HPE_INVALID_TRANSFER_ENCODING: return hasLength ? .ambiguousLength : .transferEncoding
        default: return .malformed
        }
    }

    /// Lets the parser read; the number of bytes is how many it took before it stopped.
    private func execute(_ bytes: Span<UInt8>) -> (llhttp_errno, Int) {
        unsafe bytes.withUnsafeBytes { buffer in
            guard let start = unsafe buffer.bindMemory(to: CChar.self).baseAddress else { return (HPE_OK, 0) }
            let result = unsafe llhttp_execute(parser, start, buffer.count)
            guard result == HPE_PAUSED, let stop = unsafe llhttp_get_error_pos(parser) else {
                return (result, buffer.count)
            }
            unsafe llhttp_resume(parser)
            return unsafe (result, stop - start)
        }
    }

    private func fail(_ fault: RequestFault) -> (taken: Int, outcome: Outcome) {
        self.fault = fault
        place = .failed
        headBytes = []
        request.body = []
        return (0, .refused(fault))
    }

    /// The whole request; the decoder stands at the start of the next.
    private func takeRequest() -> Request {
        var taken = Request(method: .get, target: "", fields: [:], body: [], isHTTP10: false, keepsAlive: false)
        swap(&taken, &request)
        if !taken.body.isEmpty { taken.body.reserveCapacity(taken.body.count + spareBytes) }
        place = .head
        scanner = HeadScanner()
        framingBytes = 0
        return taken
    }

    // What the parser tells.

    fileprivate func nameRead(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
        // Fields after the last chunk are not taken: nothing here reads them, and they must not pass for the head's.
        if isHeadRead { return 0 }
        finishField(Span())
        unsafe fieldName = (start, count)
        return 0
    }

    fileprivate func valueRead(_ value: Span<UInt8>) -> CInt {
        if isHeadRead { return 0 }
        finishField(value)
        return fault == nil ? 0 : -1
    }

    private func finishField(_ value: Span<UInt8>) {
        guard let (start, count) = unsafe fieldName else { return }
        unsafe fieldName = nil
        let name = unsafe Span(_unsafeStart: start, count: count)
        let value = value.extracting(textRange(value))
        rules.note(name: name, value: value)
        guard request.fields.lines.count < limits.fieldLines else {
            fault = .headTooLarge
            return
        }
        request.fields.append(text(name), text(value))
    }

    fileprivate func headRead() -> CInt {
        finishField(Span())
        isHeadRead = true
        if fault != nil { return -1 }
        // No other protocol is spoken here, so an `Upgrade` is a field like others (RFC 9110 §7.8).
        unsafe parser.pointee.upgrade = 0
        do throws(RequestFault) {
            switch try rules.framing(isHTTP10: request.isHTTP10) {
            case .none: break
            case .length(let count):
                guard count <= limits.bodyBytes else { throw .bodyTooLarge }
                request.body.reserveCapacity(count + spareBytes)
            case .chunked:
                // The parser does not know `chunked` with parameters; the rules have settled that it comes last.
                unsafe parser.pointee.flags |= UInt16(F_CHUNKED.rawValue)
            }
        } catch {
            fault = error
            return -1
        }
        return 0
    }

    fileprivate func bodyRead(_ bytes: UnsafeRawBufferPointer) -> CInt {
        guard request.body.count + bytes.count <= limits.bodyBytes else {
            fault = .bodyTooLarge
            return -1
        }
        unsafe request.body.append(contentsOf: bytes)
        return 0
    }

    fileprivate func messageRead() -> CInt {
        request.keepsAlive = unsafe llhttp_should_keep_alive(parser) != 0
        return CInt(bitPattern: HPE_PAUSED.rawValue)
    }
}

/// What the JSON parser may read beyond a body.
private let spareBytes = 64

private func text(_ bytes: Span<UInt8>) -> String {
    unsafe bytes.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
}

private func append(_ bytes: Span<UInt8>, to array: inout [UInt8]) {
    unsafe bytes.withUnsafeBufferPointer { unsafe array.append(contentsOf: $0) }
}

/// A copy of `head` whose target is ASCII, for a parser that takes no other; nil where it is already.
private func masked(_ head: Span<UInt8>, in target: Range<Int>) -> [UInt8]? {
    guard target.contains(where: { head[$0] >= 0x80 }) else { return nil }
    var copy: [UInt8] = []
    append(head, to: &copy)
    for index in target where copy[index] >= 0x80 { copy[index] = UInt8(ascii: "x") }
    return copy
}

/// A target as a server's own: `http://host/path` becomes `/path` (RFC 9112 §3.2.2).
private func originForm(_ target: String) -> String {
    guard target.utf8.first != UInt8(ascii: "/"),
        let scheme = ["http://", "https://"].first(where: { hasPrefix(target, $0) })
    else {
        return target
    }
    let rest = target.dropFirst(scheme.count)
    guard let path = rest.firstIndex(where: { $0 == "/" || $0 == "?" }) else { return "/" }
    return rest[path] == "/" ? String(rest[path...]) : "/" + rest[path...]
}

private func hasPrefix(_ text: String, _ prefix: String) -> Bool {
    equalsIgnoringCase(String(text.prefix(prefix.count)), prefix)
}

/// What the parser calls; one table for all parsers, never changed.
private nonisolated(unsafe) let parserSettings: UnsafeMutablePointer<llhttp_settings_t> = {
    let settings = UnsafeMutablePointer<llhttp_settings_t>.allocate(capacity: 1)
    unsafe settings.initialize(to: llhttp_settings_t())
    unsafe llhttp_settings_init(settings)
    unsafe settings.pointee.on_header_field = parserReadName
    unsafe settings.pointee.on_header_value = parserReadValue
    unsafe settings.pointee.on_headers_complete = parserReadHead
    unsafe settings.pointee.on_body = parserReadBody
    unsafe settings.pointee.on_message_complete = parserReadMessage
    return unsafe settings
}()

private func decoder(_ parser: UnsafeMutablePointer<llhttp_t>?) -> RequestDecoder? {
    guard let data = unsafe parser?.pointee.data else { return nil }
    return unsafe Unmanaged<RequestDecoder>.fromOpaque(data).takeUnretainedValue()
}

private func parserReadName(
    _ parser: UnsafeMutablePointer<llhttp_t>?, _ start: UnsafePointer<CChar>?, _ count: Int
) -> CInt {
    guard let start = unsafe start else { return 0 }
    return unsafe decoder(parser)?.nameRead(UnsafeRawPointer(start).assumingMemoryBound(to: UInt8.self), count) ?? -1
}

private func parserReadValue(
    _ parser: UnsafeMutablePointer<llhttp_t>?, _ start: UnsafePointer<CChar>?, _ count: Int
) -> CInt {
    guard let start = unsafe start else { return 0 }
    let bytes = unsafe UnsafeRawPointer(start).assumingMemoryBound(to: UInt8.self)
    return unsafe decoder(parser)?.valueRead(Span(_unsafeStart: bytes, count: count)) ?? -1
}

private func parserReadHead(_ parser: UnsafeMutablePointer<llhttp_t>?) -> CInt {
    unsafe decoder(parser)?.headRead() ?? -1
}

private func parserReadBody(
    _ parser: UnsafeMutablePointer<llhttp_t>?, _ start: UnsafePointer<CChar>?, _ count: Int
) -> CInt {
    unsafe decoder(parser)?.bodyRead(UnsafeRawBufferPointer(start: start, count: count)) ?? -1
}

private func parserReadMessage(_ parser: UnsafeMutablePointer<llhttp_t>?) -> CInt {
    unsafe decoder(parser)?.messageRead() ?? -1
}
