import HTTP
import Service
import Transport

extension Program {
    /// Calls other servers once, as the configuration says they are reached, without listening anywhere.
    ///
    /// - Throws: what `body` throws, or ``ProgramFault``.
    static func call<Value: Sendable>(
        _ configuration: Configuration, _ body: (any HTTPClient) async throws -> Value
    ) async throws -> Value {
        let group: EventLoopGroup
        do { group = try EventLoopGroup(threads: 1) } catch { throw ProgramFault("no event loop: \(error)") }
        let client = CurlClient(group: group, configuration: Self.client(configuration))
        let result: Result<Value, any Error>
        do { result = .success(try await body(client)) } catch { result = .failure(error) }
        await client.shutdown()
        group.shutdown()
        return try result.get()
    }
}
