/// What a client needs to know of its surroundings, and its limits.
public struct ClientConfiguration: Sendable {
    /// The system's folder of certificate authorities, hashed by name; searched when a certificate is judged, so
    /// nothing is loaded ahead.
    public var authorityFolder: String? = "/etc/ssl/certs"
    /// A PEM file whose authorities are trusted besides the system's.
    public var caFile: String?
    /// Where to connect instead, each `host:port:address:port` as CURLOPT_CONNECT_TO has it.
    ///
    /// Names and certificates stay those of the address asked for.
    public var resolve: [String] = []
    /// The proxy; nil uses none, whatever the environment says.
    public var proxy: String?
    /// How many bytes the header of an answer may have, interim answers included.
    public var headerLimitBytes = 64 * 1024
    /// How many connections one loop opens to one host; more calls wait for one.
    public var connectionsPerHost = 64
    /// How many connections one loop has in all.
    public var connections = 512
    /// How many of them one loop keeps open without a call.
    public var idleConnections = 32
    /// For how long a connection without a call is used again; under the 60 s of usual load balancers.
    public var idleSeconds = 50
    /// How long it may take until a connection stands, its name looked up and TLS agreed; within the deadline.
    public var connectTimeout = Duration.seconds(2)

    /// The defaults.
    public init() {}
}
