import HTTP
import JSON
import OAuth

extension OpenAPIOperation {
    /// Every route whose path does not depend on the configuration.
    static let table = apps + alexa + oauth + resources + operations + files

    private static let apps = [
        OpenAPIOperation(
            method: .get, path: "/alexaurl", id: "startLink", tag: .apps,
            summary:
                "Begins a link: addresses of the Alexa app and of Login with Amazon, with a state that is good once",
            caller: .user,
            parameters: [
                Parameter(
                    name: "state", text: "A state of the app's own, at least 8 characters; by default one is made"),
                Parameter(name: "skill", text: "The skill's name; needed where there are several"),
                Parameter(name: "redirect", text: "One of linking.redirectURLs; by default the first"),
            ], answer: Body(schema: "LinkStart"), faults: [400, 401, 403, 409, 503], fault: .problem),
        OpenAPIOperation(
            method: .post, path: "/alexa/link", id: "finishLink", tag: .apps,
            summary: "Finishes a link with what came back from Amazon", caller: .user, body: Body(schema: "LinkFinish"),
            answer: Body(schema: "LinkAnswer"), faults: [400, 401, 403, 409, 502, 503], fault: .problem),
        OpenAPIOperation(
            method: .get, path: "/alexa/link", id: "showLinks", tag: .apps, summary: "How the user's links stand",
            caller: .user, answer: Body(schema: "Links"), faults: [401, 403, 503], fault: .problem),
        OpenAPIOperation(
            method: .delete, path: "/alexa/link", id: "endLinks", tag: .apps, summary: "Ends one link, or all",
            caller: .user, parameters: [Parameter(name: "id", text: "The link; by default all of the user's")],
            answer: Body(schema: "Links"), faults: [400, 401, 403, 404, 503], fault: .problem),
        OpenAPIOperation(
            method: .post, path: "/app-flip/authorize", id: "authorizeAppFlip", tag: .apps,
            summary: "What to open in answer to Google's app", caller: .user, body: Body(schema: "AppFlip"),
            answer: Body(schema: "AppFlipAnswer"), faults: [400, 403], fault: .problem),
    ]

    private static let alexa = [
        OpenAPIOperation(
            method: .post, path: "/alexa/custom", id: "answerSkill", tag: .alexa,
            summary: "Custom-skill requests and skill events, as Alexa sends them", caller: .alexa,
            body: Body(schema: "AlexaMessage"), answer: Body(schema: "AlexaMessage"), faults: [400]),
        OpenAPIOperation(
            method: .post, path: "/alexa/smart-home", id: "answerDirective", tag: .alexa,
            summary: "Smart-home directives, by way of a Lambda function", caller: .forwarder,
            parameters: [
                Parameter(name: "skill", text: "The skill's name; by default the only smart-home skill"),
                Parameter(name: "region", text: "NA, EU or FE; by default that of the skill's events"),
            ], body: Body(schema: "AlexaMessage"), answer: Body(schema: "AlexaMessage"), faults: [400, 401, 404],
            fault: .problem),
        OpenAPIOperation(
            method: .post, path: "/oauth/reciprocal", id: "takeReciprocalCode", tag: .alexa,
            summary: "Reciprocal authorization: Amazon's code for the user whom the token names", caller: .user,
            body: Body(mediaType: Body.form, schema: "Reciprocal"), faults: [400, 401, 503], fault: .oauth),
    ]

    private static let oauth = [
        OpenAPIOperation(
            method: .get, path: "/oauth/authorize", id: "showConsent", tag: .oauth,
            summary: "Sign-in and consent (RFC 6749 §4.1.1)",
            parameters: [
                Parameter(name: "response_type", isRequired: true, text: "code"),
                Parameter(name: "client_id", isRequired: true, text: "The client"),
                Parameter(name: "redirect_uri", text: "One that is registered for the client"),
                Parameter(name: "scope", text: "Scopes, joined by blanks"),
                Parameter(name: "state", text: "Comes back unchanged"),
                Parameter(name: "code_challenge", text: "RFC 7636"),
                Parameter(name: "code_challenge_method", text: "S256"),
            ], answer: .page, faults: [303, 400], fault: .page),
        OpenAPIOperation(
            method: .post, path: "/oauth/authorize", id: "sendConsent", tag: .oauth,
            summary: "The forms of those pages", body: Body(mediaType: Body.form, schema: "PageForm"), status: 303,
            faults: [400, 429, 503], fault: .page),
        OpenAPIOperation(
            method: .post, path: TokenRoutes.tokenPath, id: "getTokens", tag: .oauth, summary: "RFC 6749 §3.2",
            caller: .client, body: Body(mediaType: Body.form, schema: "TokenRequest"),
            answer: Body(schema: "Tokens"), faults: [400, 401, 429, 503], fault: .oauth),
        OpenAPIOperation(
            method: .post, path: "/oauth/revoke", id: "revokeToken", tag: .oauth, summary: "RFC 7009",
            caller: .client, body: Body(mediaType: Body.form, schema: "TokenForm"), faults: [400, 401, 429, 503],
            fault: .oauth),
        OpenAPIOperation(
            method: .post, path: "/oauth/introspect", id: "introspectToken", tag: .oauth, summary: "RFC 7662",
            caller: .client, body: Body(mediaType: Body.form, schema: "TokenForm"),
            answer: Body(schema: "Introspection"), faults: [400, 401, 429, 503], fault: .oauth),
        OpenAPIOperation(
            method: .get, path: "/oauth/userinfo", id: "getUserInfo", tag: .oauth, summary: "The token's user",
            caller: .user, answer: Body(schema: "User"), faults: [401, 503], fault: .oauth),
        OpenAPIOperation(
            method: .post, path: "/oauth/userinfo", id: "postUserInfo", tag: .oauth, summary: "The token's user",
            caller: .user, answer: Body(schema: "User"), faults: [401, 503], fault: .oauth),
        OpenAPIOperation(
            method: .get, path: "/oauth/jwks.json", id: "getKeys", tag: .oauth, summary: "RFC 7517 §5",
            answer: Body(schema: "Keys"), faults: [503], fault: .problem),
        OpenAPIOperation(
            method: .get, path: ProviderMetadata.path, id: "getMetadata", tag: .oauth, summary: "RFC 8414",
            answer: Body(schema: "Metadata")),
    ]

    private static let resources = [
        OpenAPIOperation(
            method: .get, path: "/v1/me", id: "getUser", tag: .resources, summary: "The token's user", caller: .user,
            answer: Body(schema: "User"), faults: [401, 403, 503], fault: .oauth),
        OpenAPIOperation(
            method: .get, path: "/v1/devices", id: "listDevices", tag: .resources, summary: "The user's devices",
            caller: .user, parameters: [Parameter(name: "cursor", text: "Where an earlier page ended")],
            answer: Body(schema: "Devices"), faults: [400, 401, 403], fault: .device),
        OpenAPIOperation(
            method: .get, path: "/v1/devices/{id}/state", id: "getDeviceState", tag: .resources,
            summary: "A device's properties", caller: .user,
            parameters: [Parameter(name: "id", isPath: true, text: "The device")],
            answer: Body(schema: "DeviceState"), faults: [401, 403, 404], fault: .device),
        OpenAPIOperation(
            method: .post, path: "/v1/devices/{id}/commands", id: "commandDevice", tag: .resources,
            summary: "Carries out a command", caller: .user,
            parameters: [Parameter(name: "id", isPath: true, text: "The device")],
            body: Body(schema: "DeviceCommand"), answer: Body(schema: "DeviceState"),
            faults: [400, 401, 403, 404, 409, 503], fault: .device),
        OpenAPIOperation(
            method: .post, path: "/v1/events", id: "postEvents", tag: .events,
            summary: "What happened to devices; taken whole or not at all", caller: .client,
            body: Body(schema: "Events"), status: 202, answer: Body(schema: "Accepted"),
            faults: [400, 401, 403, 429, 503], fault: .problem),
    ]
}
