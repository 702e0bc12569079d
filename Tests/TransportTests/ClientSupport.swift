import Crypto
import Glibc
import HTTP
import TestSupport
import Time
import Transport

/// A client with loops of its own, in front of a server that does what a test says.
func withClient<Result>(
    _ configuration: ClientConfiguration = ClientConfiguration(), threads: Int = 1,
    serve: @escaping @Sendable (RawConnection) -> Void, certificate: ServerCertificate? = nil,
    _ body: (CurlClient, RawServer, EventLoopGroup) async throws -> Result
) async throws -> Result {
    let server = try RawServer(certificates: certificate?.pem, key: certificate?.key, serve)
    let group = try EventLoopGroup(threads: threads)
    let client = CurlClient(group: group, configuration: configuration)
    do {
        let result = try await body(client, server, group)
        await client.shutdown()
        server.stop()
        group.shutdown()
        return result
    } catch {
        await client.shutdown()
        server.stop()
        group.shutdown()
        throw error
    }
}

extension RawServer {
    /// An address of this server.
    func url(_ target: String = "/") -> String { "http://127.0.0.1:\(port)\(target)" }
}

extension Deadline {
    /// That far from now.
    static func soon(_ duration: Duration = .seconds(240)) -> Deadline { .after(duration, from: .now) }
}

extension CurlClient {
    /// What a call ends with.
    func outcome(_ request: OutgoingRequest, by deadline: Deadline = .soon()) async
        -> Swift.Result<
            HTTPResponse, HTTPClientError
        >
    {
        do { return .success(try await send(request, by: deadline)) } catch { return .failure(error) }
    }

    /// The error that a call must end with; nil where it was answered.
    func failure(_ request: OutgoingRequest, by deadline: Deadline = .soon()) async -> HTTPClientError? {
        guard case .failure(let error) = await outcome(request, by: deadline) else { return nil }
        return error
    }
}

/// A certificate of a test authority, and that authority.
struct ServerCertificate {
    let pem: [UInt8]
    let key: [UInt8]
    let authority: [UInt8]

    init(_ names: [String], commonName: String = "Test authority") throws {
        let (from, until) = (UnixTime(seconds: 1_700_000_000), UnixTime(seconds: 2_500_000_000))
        let authorityKey = try PrivateKey.generate(.p256)
        let authority = try Certificate.issue(
            .authority(commonName, from: from, until: until), publicKey: authorityKey.publicKey, issuer: nil,
            signedBy: authorityKey)
        let key = try PrivateKey.generate(.p256)
        let leaf = try Certificate.issue(
            .server(names, from: from, until: until), publicKey: key.publicKey, issuer: authority,
            signedBy: authorityKey)
        pem = leaf.pem
        self.key = key.pem
        self.authority = authority.pem
    }
}

/// Runs `body` with a new folder, which is gone afterwards, as are the files of the given names in it.
func withFolder<Result>(
    files: [String: [UInt8]], _ body: (String) async throws -> Result
) async throws -> Result {
    var template = Array("/tmp/skillgate-test-XXXXXX".utf8CString)
    guard let folder = unsafe mkdtemp(&template).map({ unsafe String(cString: $0) }) else { throw RawServer.Failure() }
    for (name, bytes) in files {
        guard let file = unsafe fopen(folder + "/" + name, "w") else { throw RawServer.Failure() }
        unsafe fwrite(bytes, 1, bytes.count, file)
        unsafe fclose(file)
    }
    defer {
        for name in files.keys { unsafe unlink(folder + "/" + name) }
        unsafe rmdir(folder)
    }
    return try await body(folder)
}
