import Dispatch
import Glibc

/// The signals that end the program or have it read its certificates again, in the order in which they come.
struct Signals: ~Copyable {
    let stream: AsyncStream<Int32>
    private let sources: [any DispatchSourceSignal]

    init(_ numbers: [Int32]) {
        let (stream, continuation) = AsyncStream<Int32>.makeStream()
        self.stream = stream
        sources = numbers.map { number in
            // The source sees the signal although the process itself ignores it.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { continuation.yield(number) }
            source.activate()
            return source
        }
    }

    deinit { for source in sources { source.cancel() } }
}
