/// What was read ahead of the request that is being answered.
///
/// It is taken from the front, in whatever pieces. What was taken is let go once it is the larger part, so a connection
/// on which something always waits holds twice that at most, however long it lives.
package struct Backlog: Sendable {
    private var bytes: [UInt8] = []
    private var start = 0

    package init() {}

    /// How many bytes wait.
    package var count: Int { bytes.count - start }

    package var isEmpty: Bool { count == 0 }

    /// How many bytes are held, those that were taken already included.
    package var heldBytes: Int { bytes.count }

    /// Adds bytes behind the others.
    package mutating func append(_ more: Span<UInt8>) {
        if start > count {
            bytes.removeFirst(start)
            start = 0
        }
        unsafe more.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
    }

    /// Shows what waits to `body`, and lets go of as many bytes as it says it took.
    package mutating func take(_ body: (Span<UInt8>) -> Int) {
        start += body(bytes.span.extracting(start..<bytes.count))
        if isEmpty { self = Backlog() }
    }
}
