import AppLinking
import Concurrency
import Foundation
import TestSupport
import Testing

/// A service on loopback that answers by a closure and remembers what it was asked.
final class LinkServer: Sendable {
    struct Request: Sendable {
        let line: String
        let fields: [String: String]
        let body: String
    }

    private let server: RawServer
    private let asked: Locked<[Request]>

    var requests: [Request] { asked.withLock { $0 } }

    /// An answer of nil is silence.
    init(_ answer: @escaping @Sendable (Request) -> (status: String, body: String)?) throws {
        let asked = Locked<[Request]>([])
        self.asked = asked
        server = try RawServer { connection in
            while let head = connection.head() {
                var lines = head.components(separatedBy: "\r\n")
                let line = lines.removeFirst()
                var fields: [String: String] = [:]
                for field in lines {
                    guard let colon = field.firstIndex(of: ":") else { continue }
                    fields[field[..<colon].lowercased()] = field[colon...].dropFirst()
                        .trimmingCharacters(in: .whitespaces)
                }
                guard let body = connection.read(Int(fields["content-length"] ?? "") ?? 0) else { return }
                let request = Request(line: line, fields: fields, body: String(decoding: body, as: UTF8.self))
                asked.withLock { $0.append(request) }
                guard let (status, body) = answer(request) else {
                    connection.waitForEnd()
                    return
                }
                let place = status.hasPrefix("3") ? "Location: /elsewhere\r\n" : ""
                connection.answer(status, body, fields: "Content-Type: application/json\r\n" + place)
            }
        }
    }

    deinit { server.stop() }

    func client(
        path: String = "", language: LinkLanguage = .english, timeout: TimeInterval = 240, token: String? = "user-token"
    ) throws -> LinkClient {
        // The client holds the server, which would otherwise stop after its last mention in a test.
        LinkClient(baseURL: try url(path), language: language, timeout: timeout) {
            withExtendedLifetime(self) { token }
        }
    }

    func url(_ path: String = "") throws -> URL {
        try #require(URL(string: "http://127.0.0.1:\(server.port)\(path)"))
    }
}
