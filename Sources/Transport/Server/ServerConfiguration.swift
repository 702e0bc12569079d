/// What a server listens on, and within which limits.
public struct ServerConfiguration: Sendable {
    /// The address or name to listen on.
    public var host: String
    /// The port; zero lets the system choose.
    public var port: Int
    /// Certificate and key; nil speaks plain HTTP.
    public var tls: TLSFiles?
    /// The limits.
    public var limits: ServerLimits
    /// Peers whose `X-Forwarded-For` is believed.
    public var trustedProxies: AddressSet

    /// A server on `host` and `port`.
    public init(
        host: String = "127.0.0.1", port: Int = 0, tls: TLSFiles? = nil, limits: ServerLimits = ServerLimits(),
        trustedProxies: AddressSet = .none
    ) {
        self.host = host
        self.port = port
        self.tls = tls
        self.limits = limits
        self.trustedProxies = trustedProxies
    }
}

/// Where certificate and key are; both are read at the start and by ``HTTPServer/reloadTLS()``.
public struct TLSFiles: Sendable, Hashable {
    /// A PEM file: the server's certificate, then those that lead to the root.
    public var certificate: String
    /// A PEM file with the private key, unencrypted.
    public var privateKey: String

    /// The two files.
    public init(certificate: String, privateKey: String) {
        self.certificate = certificate
        self.privateKey = privateKey
    }
}

/// The limits of a server.
public struct ServerLimits: Sendable, Hashable {
    /// Bytes of a request body; more is answered 413.
    public var bodyBytes = 256 * 1024
    /// Bytes of a request head; more is answered 431.
    public var headBytes = 32 * 1024
    /// From the first byte of a request to its last, and for a TLS handshake; absolute, so a trickle does not help.
    public var requestTime = Duration.seconds(30)
    /// Between requests.
    public var idleTime = Duration.seconds(75)
    /// For the peer to take an answer, and a second more for each ``answerBytesPerSecond`` of it.
    public var answerTime = Duration.seconds(30)
    /// How slowly the peer may take a long answer.
    public var answerBytesPerSecond = 64 * 1024
    /// How long the rest of a refused request is read and dropped, so that the peer gets to read the answer.
    public var lingerTime = Duration.seconds(2)
    /// How long, at shutdown, connections without a request may bring one more.
    public var drainTime = Duration.milliseconds(250)
    /// Connections open at once; those beyond are answered 503.
    public var connections = 10_000
    /// Connections open at once from one address; nil sets no limit, since Alexa comes through few addresses.
    public var connectionsPerPeer: Int?
    /// Bytes that are read ahead while a request is being answered.
    public var pipelineBytes = 64 * 1024
    /// Bytes of answers that may wait for the peer before the next request is read.
    public var unsentBytes = 64 * 1024

    /// The defaults.
    public init() {}
}

/// Why a server does not listen, or does not take a certificate.
public struct ServerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reason, in words.
    public let description: String

    init(_ description: String) { self.description = description }
}
