internal import CCurl
internal import Concurrency
public import HTTP
public import Time

/// Sends requests by libcurl, whose sockets and timers the event loops watch.
///
/// A call made on a loop's thread is carried by that loop without a lock or a hop; one made elsewhere goes to a loop
/// in turn. Connections are kept and used again, each loop its own. HTTP/1.1 alone is spoken; redirects are not
/// followed, contents not decoded, the environment's proxy settings not read.
///
/// What is sent once stays sent once: libcurl repeats a call by itself where a kept connection dies before the first
/// byte of the answer, but only a call whose method is idempotent.
public final class CurlClient: HTTPClient {
    private let group: EventLoopGroup
    private let carriers: [CurlLoop]

    /// A client on the loops of `group`, which must outlive it.
    public init(group: EventLoopGroup, configuration: ClientConfiguration = ClientConfiguration()) {
        precondition(libcurlStarted, "libcurl does not start")
        self.group = group
        carriers = group.loops.map { CurlLoop(loop: $0, configuration: configuration) }
    }

    deinit {
        for carrier in carriers { carrier.loop.execute { carrier.close() } }
    }

    /// The answer of the server, whatever its status.
    ///
    /// - Throws: `HTTPClientError`; `HTTPClientError.unreachable` only where no byte of the request was sent.
    public func send(
        _ request: OutgoingRequest, by deadline: Deadline
    ) async throws(HTTPClientError) -> HTTPResponse {
        _ = try UpstreamAddress(request.url)
        guard isSendable(request) else { throw .address }
        let carrier = carrier()
        let call = CurlCall(request: request, deadline: deadline)
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                call.continuation = continuation
                if carrier.loop.isCurrent {
                    carrier.start(call)
                } else if !carrier.loop.execute({ carrier.start(call) }) {
                    call.finish(.failure(.unreachable("the client was shut down")))
                }
            }
        } onCancel: {
            carrier.loop.execute { carrier.cancel(call) }
        }
        return try outcome.get()
    }

    /// Ends every call and closes every connection; calls that come later are refused.
    public func shutdown() async {
        for carrier in carriers {
            await withCheckedContinuation { continuation in
                let isTaken = carrier.loop.execute {
                    carrier.close()
                    continuation.resume()
                }
                if !isTaken { continuation.resume() }
            }
        }
    }

    private func carrier() -> CurlLoop {
        if let current = EventLoop.current, let own = carriers.first(where: { $0.loop === current }) { return own }
        let next = group.next()
        return carriers.first { $0.loop === next } ?? carriers[0]
    }
}

/// Started once for the process; not thread-safe in old versions, hence not left to the first handle.
private let libcurlStarted = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

/// Whether method and fields can stand in a request: nobody's value can end its line.
private func isSendable(_ request: OutgoingRequest) -> Bool {
    isToken(request.method.rawValue)
        && request.fields.lines.allSatisfy { field in
            isToken(field.name) && field.value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
        }
}

private func isToken(_ text: String) -> Bool {
    !text.isEmpty
        && text.utf8.allSatisfy { byte in
            switch byte {
            case 48...57, 65...90, 97...122: true
            default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
            }
        }
}
