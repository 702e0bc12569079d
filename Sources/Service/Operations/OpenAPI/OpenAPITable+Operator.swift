import HTTP
import JSON
import OAuth

extension OpenAPIOperation {
    static let operations = [
        OpenAPIOperation(
            method: .get, path: "/admin/links", id: "listAttempts", tag: .administration,
            summary: "Link attempts, newest first, with their traces", caller: .client,
            parameters: [
                Parameter(name: "subject", text: "One user's alone, and the user's links"),
                Parameter(name: "outcome", text: "failed (default) or all"),
            ], answer: Body(schema: "Attempts"), faults: [400, 401, 403, 503], fault: .problem),
        OpenAPIOperation(
            method: .get, path: "/admin/traces/{id}", id: "getTrace", tag: .administration, summary: "One trace",
            caller: .client, parameters: [Parameter(name: "id", isPath: true, text: "The trace id of an answer")],
            answer: Body(schema: "Trace"), faults: [401, 403, 404, 503], fault: .problem),
        OpenAPIOperation(
            method: .get, path: "/healthz", id: "getHealth", tag: .administration,
            summary: "Alive; how far the clock is off",
            answer: Body(schema: "Health")),
        OpenAPIOperation(
            method: .get, path: "/readyz", id: "getReadiness", tag: .administration,
            summary: "Whether the store takes writes",
            answer: Body(schema: "Status"), faults: [503], fault: Body(schema: "Status")),
        OpenAPIOperation(
            method: .get, path: "/metrics", id: "getMetrics", tag: .administration,
            summary: "Prometheus text, for this machine and for the operator", faults: [404], fault: .problem),
        OpenAPIOperation(
            method: .get, path: OpenAPIDocument.path, id: "getDescription", tag: .administration,
            summary: "This document"),
    ]

    static let files = [
        OpenAPIOperation(
            method: .get, path: "/.well-known/apple-app-site-association", id: "getAppleAssociation", tag: .files,
            summary: "Which links open the company's apps on Apple's systems", answer: Body(schema: "File")),
        OpenAPIOperation(
            method: .get, path: "/.well-known/assetlinks.json", id: "getAndroidAssociation", tag: .files,
            summary: "Which links open the company's apps on Android", answer: Body(schema: "Files")),
    ]
}
