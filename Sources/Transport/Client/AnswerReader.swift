package import HTTP

/// Puts an answer together from the lines and pieces that libcurl hands over; holds its limits.
package struct AnswerReader: Sendable {
    /// Why no more is taken.
    package enum Refusal: Sendable, Hashable {
        case headerTooLarge
        case bodyTooLarge
        case malformed
    }

    private enum Stage { case status, fields, body }

    private let headerLimitBytes: Int
    private let bodyLimitBytes: Int
    private var stage = Stage.status
    private var headerBytes = 0
    private var lines: [(name: String, value: String)] = []
    private var body: [UInt8] = []
    private var status = 0

    /// Why it stopped, if it did.
    package private(set) var refusal: Refusal?

    /// Nothing read yet.
    package init(headerLimitBytes: Int, bodyLimitBytes: Int) {
        self.headerLimitBytes = headerLimitBytes
        self.bodyLimitBytes = bodyLimitBytes
    }

    /// Whether the header came to its end; libcurl is content with one that its connection cut.
    package var hasWholeHeader: Bool { stage == .body }

    /// The answer, once it is whole.
    package var response: HTTPResponse {
        var fields = HTTPFields()
        for (name, value) in lines { fields.append(name, value) }
        return HTTPResponse(status: status, fields: fields, body: body)
    }

    /// Takes one line of the header with its line end; says whether to go on.
    ///
    /// Interim answers (1xx) are forgotten when the next one starts, trailers are passed over.
    package mutating func take(headerLine: UnsafeRawBufferPointer) -> Bool {
        headerBytes += headerLine.count
        guard headerBytes <= headerLimitBytes else { return refuse(.headerTooLarge) }
        var end = headerLine.count
        while end > 0, unsafe isLineEnd(headerLine[end - 1]) { end -= 1 }
        let line = unsafe UnsafeRawBufferPointer(rebasing: headerLine[..<end])
        switch stage {
        case .status:
            guard let status = unsafe statusCode(line) else { return refuse(.malformed) }
            self.status = status
            lines = []
            stage = .fields
        case .fields:
            if end == 0 {
                stage = (100..<200).contains(status) && status != 101 ? .status : .body
            } else if unsafe isBlank(line[0]) {
                // A folded line goes on with the value before it (RFC 9112 §5.2).
                guard !lines.isEmpty else { return refuse(.malformed) }
                let more = unsafe trimmed(line)
                lines[lines.count - 1].value += " " + more
            } else {
                guard let colon = unsafe line.firstIndex(of: 58), colon > 0 else { return refuse(.malformed) }
                let name = unsafe String(decoding: line[..<colon], as: UTF8.self)
                let value = unsafe trimmed(UnsafeRawBufferPointer(rebasing: line[(colon + 1)...]))
                lines.append((name, value))
                if equalsIgnoringCase(name, "content-length"), let length = Int(value) {
                    // With room to spare: what parses JSON reads in steps of 64 bytes.
                    body.reserveCapacity(min(max(0, length), bodyLimitBytes, 1 << 20) + 64)
                }
            }
        case .body:
            break
        }
        return true
    }

    /// Takes a piece of the body; says whether to go on.
    package mutating func take(body piece: UnsafeRawBufferPointer) -> Bool {
        guard piece.count <= bodyLimitBytes - body.count else { return refuse(.bodyTooLarge) }
        unsafe body.append(contentsOf: piece)
        return true
    }

    private mutating func refuse(_ reason: Refusal) -> Bool {
        if refusal == nil { refusal = reason }
        return false
    }

    /// The code of a status line, `HTTP/1.1 200 OK` for example.
    private func statusCode(_ line: UnsafeRawBufferPointer) -> Int? {
        guard unsafe line.starts(with: "HTTP/".utf8), let space = unsafe line.firstIndex(of: 32) else { return nil }
        var code = 0
        for index in space + 1..<space + 4 {
            guard index < line.count, unsafe (48...57).contains(line[index]) else { return nil }
            code = unsafe code * 10 + Int(line[index] - 48)
        }
        return (100...999).contains(code) ? code : nil
    }

    private func trimmed(_ bytes: UnsafeRawBufferPointer) -> String {
        var (start, end) = (0, bytes.count)
        while start < end, unsafe isBlank(bytes[start]) { start += 1 }
        while end > start, unsafe isBlank(bytes[end - 1]) { end -= 1 }
        return unsafe String(decoding: bytes[start..<end], as: UTF8.self)
    }
}

private func isBlank(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 }

private func isLineEnd(_ byte: UInt8) -> Bool { byte == 13 || byte == 10 }
