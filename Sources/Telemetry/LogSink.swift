import Concurrency
import Glibc

/// Where log lines go; called by one thread at a time, never by a loop.
public protocol LogSink: Sendable {
    /// Takes whole lines, each ended by a line feed.
    func write(_ lines: String)
}

/// Writes to an open file descriptor, standard error for example.
///
/// What cannot be written because the other end is gone is lost: a program must not die of its log.
public struct DescriptorSink: LogSink {
    private let descriptor: Int32

    /// A sink on an open descriptor, which stays the caller's.
    public init(descriptor: Int32) { self.descriptor = descriptor }

    /// Standard error.
    public static let standardError = DescriptorSink(descriptor: STDERR_FILENO)

    /// Writes all of `lines`, waiting where the other end is slow.
    public func write(_ lines: String) {
        let bytes = Array(lines.utf8)
        var start = 0
        while start < bytes.count {
            let count = unsafe bytes[start...].withUnsafeBytes {
                unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            if count > 0 {
                start += count
            } else if errno == EAGAIN {
                var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                unsafe poll(&waiting, 1, -1)
            } else if errno != EINTR {
                return
            }
        }
    }
}

/// Keeps lines in memory, for tests.
public final class LogLines: LogSink {
    private let kept = Locked<[String]>([])

    /// No lines.
    public init() {}

    /// The lines so far, without their line feeds; call ``Log/flush()`` first.
    public var lines: [String] { kept.withLock { $0 } }

    /// Keeps `lines`.
    public func write(_ lines: String) {
        let added = lines.split(separator: "\n").map(String.init)
        kept.withLock { kept in kept += added }
    }
}
