public import Crypto
public import HTTP
import JSON
public import Time

/// Alexa's event gateway, one address a region.
///
/// Nothing is sent twice here: whoever sends knows whether another token, region or time would help.
public struct EventGateway: Sendable {
    /// Where each region's gateway is reached, without the path.
    public static let usualAddresses: [AlexaRegion: String] = [
        .northAmerica: "https://api.amazonalexa.com", .europe: "https://api.eu.amazonalexa.com",
        .farEast: "https://api.fe.amazonalexa.com",
    ]
    /// The path of events.
    public static let path = "/v3/events"

    private let http: any HTTPClient
    private let addresses: [AlexaRegion: String]
    private let timeLimit: Duration
    private let monotonic: @Sendable () -> ContinuousClock.Instant

    /// Gateways at `addresses`; `timeLimit` is that of one call, which the deadline may cut further.
    public init(
        http: any HTTPClient, addresses: [AlexaRegion: String] = usualAddresses,
        timeLimit: Duration = .seconds(10), monotonic: @escaping @Sendable () -> ContinuousClock.Instant
    ) {
        self.http = http
        self.addresses = addresses
        self.timeLimit = timeLimit
        self.monotonic = monotonic
    }

    /// Sends one event; returns where the gateway took it.
    ///
    /// - Parameters:
    ///   - event: the event as JSON, with the same token in its scope.
    ///   - region: whose gateway.
    ///   - token: Amazon's access token.
    ///   - deadline: when the answer must be there.
    /// - Throws: why the gateway did not take it, or may not have.
    public func send(
        _ event: [UInt8], to region: AlexaRegion, token: Secret, by deadline: Deadline
    ) async throws(EventGatewayError) {
        guard var address = addresses[region] ?? Self.usualAddresses[region] else { throw .unreachable }
        if address.hasSuffix("/") { address.removeLast() }
        let request = OutgoingRequest(
            method: .post, url: address + Self.path,
            fields: [
                "Authorization": "Bearer " + token.exposed, "Content-Type": "application/json",
                "Accept": "application/json",
            ], body: event, answerLimitBytes: 64 * 1024)
        let response: HTTPResponse
        do {
            response = try await http.send(request, by: deadline.limited(to: timeLimit, from: monotonic()))
        } catch {
            throw EventGatewayError(error)
        }
        guard !(200...299).contains(response.status) else { return }
        throw EventGatewayError(response)
    }
}
