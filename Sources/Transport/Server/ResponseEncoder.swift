package import HTTP
package import Time

/// Writes the heads of answers; one a loop, so that the date is written out once a second and not once an answer.
package struct ResponseEncoder {
    private var dateSeconds = Int64.min
    private var dateLine: [UInt8] = []

    /// Nothing written yet.
    package init() {}

    /// The head of `response`, blank line included.
    ///
    /// `Content-Length`, `Date`, `Connection` and `Transfer-Encoding` are the server's; a handler's are left out. The
    /// length is that of the body in bytes also where a HEAD request keeps the body from being sent (RFC 9110 §9.3.2).
    ///
    /// - Returns: nil where a field could break out of its line, so that the answer must not leave.
    package mutating func head(
        of response: HTTPResponse, isHTTP10: Bool, keepsAlive: Bool, now: UnixTime
    ) -> [UInt8]? {
        guard (100...999).contains(response.status) else { return nil }
        if now.seconds != dateSeconds {
            dateSeconds = now.seconds
            dateLine = Array("Date: \(now.httpDate)\r\n".utf8)
        }
        var head: [UInt8] = []
        head.reserveCapacity(256)
        head.append(contentsOf: "HTTP/1.1 ".utf8)
        appendNumber(response.status, to: &head)
        head.append(UInt8(ascii: " "))
        head.append(contentsOf: reasonPhrase(response.status).utf8)
        head.append(contentsOf: "\r\n".utf8)
        for field in response.fields.lines where !isServers(field.name) {
            guard isFieldName(field.name), isFieldValue(field.value) else { return nil }
            head.append(contentsOf: field.name.utf8)
            head.append(contentsOf: ": ".utf8)
            head.append(contentsOf: field.value.utf8)
            head.append(contentsOf: "\r\n".utf8)
        }
        if allowsBody(response.status) {
            head.append(contentsOf: "Content-Length: ".utf8)
            appendNumber(response.body.count, to: &head)
            head.append(contentsOf: "\r\n".utf8)
        }
        head.append(contentsOf: dateLine)
        if !keepsAlive {
            head.append(contentsOf: "Connection: close\r\n".utf8)
        } else if isHTTP10 {
            head.append(contentsOf: "Connection: keep-alive\r\n".utf8)
        }
        head.append(contentsOf: "\r\n".utf8)
        return head
    }
}

/// Whether an answer of that status may have a body (RFC 9110 §6.4.1).
func allowsBody(_ status: Int) -> Bool { status >= 200 && status != 204 && status != 304 }

private func isServers(_ name: String) -> Bool {
    switch name.utf8.count {
    case 4: equalsIgnoringCase(name, "Date")
    case 10: equalsIgnoringCase(name, "Connection")
    case 14: equalsIgnoringCase(name, "Content-Length")
    case 17: equalsIgnoringCase(name, "Transfer-Encoding")
    default: false
    }
}

private func isFieldName(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: ":") }
}

private func isFieldValue(_ value: String) -> Bool {
    value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }
}

private func appendNumber(_ number: Int, to bytes: inout [UInt8]) {
    if number >= 10 { appendNumber(number / 10, to: &bytes) }
    bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10))
}

private func reasonPhrase(_ status: Int) -> String {
    switch status {
    case 200: "OK"
    case 201: "Created"
    case 202: "Accepted"
    case 204: "No Content"
    case 301: "Moved Permanently"
    case 302: "Found"
    case 303: "See Other"
    case 304: "Not Modified"
    case 307: "Temporary Redirect"
    case 308: "Permanent Redirect"
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 408: "Request Timeout"
    case 409: "Conflict"
    case 410: "Gone"
    case 413: "Content Too Large"
    case 415: "Unsupported Media Type"
    case 417: "Expectation Failed"
    case 422: "Unprocessable Content"
    case 429: "Too Many Requests"
    case 431: "Request Header Fields Too Large"
    case 500: "Internal Server Error"
    case 501: "Not Implemented"
    case 502: "Bad Gateway"
    case 503: "Service Unavailable"
    case 504: "Gateway Timeout"
    default: ""
    }
}
