import Alexa
import HTTP
import JSON
import OAuth

extension EmbeddedDevices {
    /// `GET /v1/devices`, `GET /v1/devices/{id}/state` and `POST /v1/devices/{id}/commands`, for who holds a good token.
    ///
    /// What a slow device comes to goes to `later`.
    func routes(
        bearer: BearerGuard, scopes: Set<String>, timeLimit: Duration, later: EmbeddedProvider.LateAnswer?
    ) -> [Route] {
        /// Answers those whom the guard lets through.
        @Sendable func guarded(
            _ request: HTTPRequest, _ answer: (String) throws(DeviceRefusal) -> HTTPResponse
        ) async -> HTTPResponse {
            switch await bearer.outcome(for: request, scopes: scopes) {
            case .refusal(let response): return response
            case .principal(let principal):
                do throws(DeviceRefusal) { return try answer(principal.subject) } catch { return error.response }
            }
        }
        return [
            Route(.get, "/v1/devices", timeLimit: timeLimit) { request, _ in
                await guarded(request) { (subject) throws(DeviceRefusal) in
                    guard let page = self.page(of: subject, from: try Self.cursor(of: request)) else {
                        throw .malformed("cursor is none of ours")
                    }
                    return HTTPResponse(json: page)
                }
            },
            Route(.get, "/v1/devices/{id}/state", timeLimit: timeLimit) { request, arguments in
                await guarded(request) { (subject) throws(DeviceRefusal) in
                    let state = try self.state(of: arguments["id"] ?? "", for: subject)
                    return HTTPResponse(json: ["properties": .array(state.map(\.json))])
                }
            },
            Route(
                .post, "/v1/devices/{id}/commands", timeLimit: timeLimit, mediaType: "application/json"
            ) { request, arguments in
                await guarded(request) { (subject) throws(DeviceRefusal) in
                    let command = try DeviceCommand(decoding: request.body)
                    let id = arguments["id"] ?? ""
                    let outcome = try self.carryOut(command, on: id, for: subject)
                    if case .deferred(let seconds, let properties?) = outcome,
                        let token = request.fields[DeviceClient.correlationTokenField]
                    {
                        later?(
                            PostedEvent(
                                answerTo: token, subject: subject, deviceID: id, properties: properties), seconds)
                    }
                    return outcome.response
                }
            },
        ]
    }

    private static func cursor(of request: HTTPRequest) throws(DeviceRefusal) -> String? {
        let values = (request.query ?? "").split(separator: "&").filter { $0.prefix { $0 != "=" } == "cursor" }
        guard let value = values.first else { return nil }
        guard values.count == 1, let cursor = percentDecoded(value.drop { $0 != "=" }.dropFirst()) else {
            throw .malformed("cursor is malformed")
        }
        return cursor
    }
}

extension EmbeddedDevices.Outcome {
    fileprivate var response: HTTPResponse {
        switch self {
        case .done(let properties, let payload):
            var object: JSONObject = ["properties": .array(properties.map(\.json))]
            object["payload"] = payload.map(JSONValue.object)
            return HTTPResponse(json: .object(object))
        case .deferred(let seconds, _):
            return HTTPResponse(json: ["deferSeconds": .integer(seconds)], status: 202)
        }
    }
}
