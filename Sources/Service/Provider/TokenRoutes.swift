import HTTP
import JSON
import OAuth

/// The routes of the authorization server that clients call: tokens, revocation, introspection, metadata.
enum TokenRoutes {
    static let tokenPath = "/oauth/token"
    static let form = "application/x-www-form-urlencoded"
    /// Alexa waits 4.5 s for tokens.
    static let timeLimit: Duration = .seconds(4)

    /// `POST /oauth/token`.
    static func token(_ server: AuthorizationServer) -> Route {
        Route(.post, tokenPath, timeLimit: timeLimit, mediaType: form) { request, _ in
            request.lateAnswer.response = late
            return await server.answerToken(request)
        }
    }

    /// `POST /oauth/revoke` and `POST /oauth/introspect`.
    static func inspection(_ server: AuthorizationServer) -> [Route] {
        [
            Route(.post, "/oauth/revoke", timeLimit: timeLimit, mediaType: form) { request, _ in
                request.lateAnswer.response = late
                return await server.answerRevocation(request)
            },
            Route(.post, "/oauth/introspect", timeLimit: timeLimit, mediaType: form) { request, _ in
                request.lateAnswer.response = late
                return await server.answerIntrospection(request)
            },
        ]
    }

    /// `GET /.well-known/oauth-authorization-server`.
    static func metadata(_ metadata: ProviderMetadata) -> Route {
        let body = metadata.json.encoded()
        return Route(.get, ProviderMetadata.path, timeLimit: timeLimit) { _, _ in
            HTTPResponse(
                status: 200, fields: ["Content-Type": "application/json", "Cache-Control": "public, max-age=300"],
                body: body)
        }
    }

    /// What leaves where nothing was ready in time: a client tries again, and nothing is kept of it.
    private static var late: HTTPResponse {
        HTTPResponse(
            status: 503,
            fields: [
                "Content-Type": "application/json", "Cache-Control": "no-store", "Pragma": "no-cache",
                "Retry-After": "1",
            ], body: JSONValue.object(["error": "temporarily_unavailable"]).encoded())
    }
}
