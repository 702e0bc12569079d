import Glibc
import HTTP
import Testing
import Time
import Transport

/// Stands before the system's function of that name in this program, libcurl's use of it included: a look-up of
/// `stuck.example` does not end before the test is over.
@_cdecl("getaddrinfo")
func lookUp(
    _ name: UnsafePointer<CChar>?, _ service: UnsafePointer<CChar>?, _ hints: UnsafeRawPointer?,
    _ result: UnsafeMutableRawPointer?
) -> CInt {
    if let name = unsafe name, unsafe strcmp(name, "stuck.example") == 0 {
        var byte: UInt8 = 0
        unsafe write(StuckLookups.arrivals.1, &byte, 1)
        unsafe read(StuckLookups.releases.0, &byte, 1)
        return EAI_AGAIN
    }
    typealias Function =
        @convention(c) (
            UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafeRawPointer?, UnsafeMutableRawPointer?
        ) -> CInt
    guard let next = unsafe dlsym(UnsafeMutableRawPointer(bitPattern: -1), "getaddrinfo") else { return EAI_FAIL }
    return unsafe unsafeBitCast(next, to: Function.self)(name, service, hints, result)
}

/// Pipes on which stuck look-ups tell that they began, and wait for their end.
private enum StuckLookups {
    static let arrivals = ends()
    static let releases = ends()

    /// Whether another one has begun, or begins within ten seconds.
    static func hasBegun() async throws -> Bool {
        try await onThread {
            var arrival = pollfd(fd: arrivals.0, events: Int16(POLLIN), revents: 0)
            var byte: UInt8 = 0
            return unsafe poll(&arrival, 1, 10_000) == 1 && read(arrivals.0, &byte, 1) == 1
        }
    }

    private static func ends() -> (CInt, CInt) {
        var ends: [CInt] = [0, 0]
        precondition(unsafe pipe(&ends) == 0)
        return (ends[0], ends[1])
    }
}

@Suite("Look-ups that hang", .timeLimit(.minutes(5)))
struct ClientLookupTests {
    // The thread sanitizer stands before getaddrinfo itself, so the stand-in is not asked there.
    #if !THREAD_SANITIZER
        @Test("a stuck look-up holds neither its own call beyond the deadline, nor another call, nor the shutdown")
        func stuck() async throws {
            var configuration = ClientConfiguration()
            configuration.connectTimeout = .seconds(240)
            try await withClient(configuration, serve: ClientCallTests.echo) { client, server, _ in
                let request = OutgoingRequest(url: "https://stuck.example/")
                let first = await client.failure(request, by: .soon(.seconds(1)))
                #expect(first == .timedOut)
                // The look-up began, and so was cut and not merely late.
                #expect(try await StuckLookups.hasBegun())
                let cancelled = Task { await client.failure(request) }
                #expect(try await StuckLookups.hasBegun())
                for _ in 0..<5 {
                    let response = try await client.send(OutgoingRequest(url: server.url()), by: .soon())
                    #expect(response.status == 200)
                }
                cancelled.cancel()
                #expect(await cancelled.value == .cancelled)
                let left = Task { await client.failure(request) }
                #expect(try await StuckLookups.hasBegun())
                await client.shutdown()
                #expect(await left.value?.outcome == "unreachable")
            }
            // Only now do the look-ups end.
            unsafe write(StuckLookups.releases.1, [0, 0, 0], 3)
        }
    #endif
}
