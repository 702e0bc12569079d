import CSimdjson
import Concurrency

/// A parser of simdjson's, with the document that it read last.
@safe final class Parser: @unchecked Sendable {
    // Unchecked because a parser is in one place at a time: in the pool, or with the document that took it.
    let pointer: OpaquePointer

    /// A parser without memory of its own yet; nil where the process has none left.
    init?() {
        guard let pointer = unsafe simdjson_shim_create() else { return nil }
        unsafe self.pointer = pointer
    }

    deinit { unsafe simdjson_shim_destroy(pointer) }

    /// How long a document the parser has memory for.
    var capacityBytes: Int { unsafe simdjson_shim_capacity(pointer) }
}

/// Parsers that wait for their next document, so that a request need not allocate their memory.
final class ParserPool: Sendable {
    static let shared = ParserPool()

    /// How many parsers wait at most: a few more than threads, since a document lives as long as its request.
    static let count = 32
    /// The longest document that a waiting parser has memory for; about 14 bytes are held for each of its bytes.
    static let capacityBytes = 16 * 1024

    private let waiting = Locked<[Parser]>([])

    /// A parser for one document.
    func take() -> Parser? { waiting.withLock { $0.popLast() } ?? Parser() }

    /// Takes a parser back, whose document nobody reads any more.
    func put(back parser: Parser) {
        guard parser.capacityBytes <= Self.capacityBytes else { return }
        waiting.withLock { waiting in
            if waiting.count < Self.count { waiting.append(parser) }
        }
    }
}
