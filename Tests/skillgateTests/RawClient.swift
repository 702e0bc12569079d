import Dispatch
import Glibc
import HTTP
import Testing

/// A connection to a service that runs, on which a test sends exactly the bytes that it says.
///
/// Reading and writing block, so it is used inside `onOwnThread`.
final class RawClient {
    /// An answer as it came.
    struct Answer: Sendable {
        let status: Int
        let fields: HTTPFields
        let body: [UInt8]

        var text: String { String(decoding: body, as: UTF8.self) }
    }

    private let socket: CInt
    private var buffer: [UInt8] = []
    private var isClosed = false

    /// Connects to that port of 127.0.0.1.
    init(port: Int) throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        // Longer than any answer may take, so that a test ends also where none comes.
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        unsafe setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let number = socket
        let isConnected = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        try #require(isConnected, "no connection to port \(port)")
    }

    deinit { close() }

    /// The bytes of a request with a body of known length.
    static func request(_ target: String, method: String = "POST", fields: HTTPFields = [:], body: [UInt8] = [])
        -> [UInt8]
    {
        var head = "\(method) \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        for line in fields.lines { head += "\(line.name): \(line.value)\r\n" }
        return Array("\(head)Content-Length: \(body.count)\r\n\r\n".utf8) + body
    }

    /// Sends all of `bytes`; false where the service does not take them.
    @discardableResult func send(_ bytes: [UInt8]) -> Bool {
        var start = 0
        while start < bytes.count {
            let sent = unsafe bytes[start...].withUnsafeBytes {
                unsafe Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard sent > 0 else { return false }
            start += sent
        }
        return true
    }

    /// Sends a text.
    @discardableResult func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// The next answer; nil where the connection ends before it is whole.
    func answer() -> Answer? {
        while true {
            if let answer = wholeAnswer() { return answer }
            guard fill() else { return nil }
        }
    }

    /// Whether the service ends the connection without another byte.
    func isEnded() -> Bool { buffer.isEmpty && !fill() && errno != EAGAIN }

    /// Leaves without a word.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        Glibc.close(socket)
    }

    private func wholeAnswer() -> Answer? {
        guard let end = buffer.firstRange(of: [13, 10, 13, 10]) else { return nil }
        let lines = String(decoding: buffer[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
        var fields = HTTPFields()
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            fields.append(String(parts[0]), String(parts.last?.drop { $0 == " " } ?? ""))
        }
        let length = fields["Content-Length"].flatMap { Int($0) } ?? 0
        guard buffer.count - end.upperBound >= length else { return nil }
        let body = Array(buffer[end.upperBound..<end.upperBound + length])
        buffer.removeFirst(end.upperBound + length)
        let status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return Answer(status: status, fields: fields, body: body)
    }

    private func fill() -> Bool {
        var piece = [UInt8](repeating: 0, count: 16_384)
        errno = 0
        let count = unsafe recv(socket, &piece, piece.count, 0)
        guard count > 0 else { return false }
        buffer += piece[..<count]
        return true
    }
}

/// Does what blocks on a thread that nobody else needs.
func onOwnThread<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue(label: "a test that blocks").async { continuation.resume(with: Swift.Result { try work() }) }
    }
}
