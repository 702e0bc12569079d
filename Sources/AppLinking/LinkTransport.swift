public import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// What sends the client's requests.
public protocol LinkTransport: Sendable {
    /// Sends `request`, follows no redirect, and returns whatever status comes; ends soon once its task is cancelled.
    func send(_ request: LinkHTTPRequest) async throws(LinkTransportError) -> LinkHTTPResponse
}

/// A request of the client's; it holds the user's token, so it prints without its fields and body.
public struct LinkHTTPRequest: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// `GET`, `POST` or `DELETE`.
    public let method: String
    /// The address.
    public let url: URL
    /// The header fields.
    public let fields: [String: String]
    /// The body.
    public let body: Data?
    /// How long the answer may take, in seconds.
    public let timeout: TimeInterval

    /// The method and the path.
    public var description: String { "\(method) \(url.path)" }
    /// The method and the path.
    public var debugDescription: String { description }
    /// Empty.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// An answer of the service.
public struct LinkHTTPResponse: Hashable, Sendable {
    /// The status.
    public let status: Int
    /// The body.
    public let body: Data

    /// An answer.
    public init(status: Int, body: Data) {
        self.status = status
        self.body = body
    }
}

/// Why no answer came.
public enum LinkTransportError: Error, Hashable, Sendable {
    /// No connection, or it broke.
    case unreachable
    /// It took too long.
    case timedOut
    /// The task was cancelled.
    case cancelled
}

/// Sends by `URLSession`, without cookies, cache or redirects.
public final class URLSessionTransport: LinkTransport {
    private let session: URLSession

    /// A session of its own.
    public init() {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.urlCache = nil
        configuration.httpShouldSetCookies = false
        session = URLSession(configuration: configuration, delegate: RedirectRefuser(), delegateQueue: nil)
    }

    deinit { session.invalidateAndCancel() }

    /// Sends a request.
    ///
    /// - Throws: ``LinkTransportError`` where no answer came.
    public func send(_ request: LinkHTTPRequest) async throws(LinkTransportError) -> LinkHTTPResponse {
        var outgoing = URLRequest(
            url: request.url, cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: request.timeout)
        outgoing.httpMethod = request.method
        outgoing.httpBody = request.body
        for (name, value) in request.fields { outgoing.setValue(value, forHTTPHeaderField: name) }
        do {
            let (data, response) = try await session.data(for: outgoing)
            guard let response = response as? HTTPURLResponse else { throw LinkTransportError.unreachable }
            return LinkHTTPResponse(status: response.statusCode, body: data)
        } catch {
            if Task.isCancelled || error is CancellationError { throw .cancelled }
            switch (error as? URLError)?.code {
            case .cancelled: throw .cancelled
            case .timedOut: throw .timedOut
            default: throw .unreachable
            }
        }
    }
}

/// The user's token goes to the service alone, wherever an answer points.
private final class RedirectRefuser: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}
