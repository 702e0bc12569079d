import HTTP
import Testing
import Time

@Suite("The router") struct RouterTests {
    let router = Router([
        Route(.post, "/alexa/custom", timeLimit: .seconds(7), mediaType: "application/json") { _, _ in
            HTTPResponse(status: 200, body: Array("custom".utf8))
        },
        Route(.get, "/link", timeLimit: .seconds(20)) { _, _ in HTTPResponse(status: 200) },
        Route(.delete, "/link", timeLimit: .seconds(20)) { _, _ in HTTPResponse(status: 204) },
        Route(.get, "/v1/devices/{id}/state", timeLimit: .seconds(4)) { _, arguments in
            HTTPResponse(status: 200, body: Array((arguments["id"] ?? "").utf8))
        },
    ])

    func answer(_ method: HTTPMethod, _ target: String, type: String? = nil) async -> HTTPResponse {
        var fields = HTTPFields()
        if let type { fields.append("content-type", type) }
        return await router.respond(
            to: HTTPRequest(
                method: method, target: target, fields: fields, deadline: .after(.seconds(1), from: .now)))
    }

    @Test(
        "a media type matches without regard to case and parameters",
        arguments: ["application/json", "Application/JSON", "application/json;charset=UTF-8", "application/json ; x=1"])
    func mediaType(type: String) async {
        let answer = await answer(.post, "/alexa/custom?x=1", type: type)
        #expect(answer.body == Array("custom".utf8))
    }

    @Test(
        "another media type is 415",
        arguments: [
            nil, "", "text/json", "application/jsonp", "application/x-www-form-urlencoded", "application",
            "application/json x", "application /json",
        ])
    func otherMediaType(type: String?) async {
        #expect(await answer(.post, "/alexa/custom", type: type).status == 415)
    }

    @Test("a wrong method is 405 and names the right ones")
    func method() async {
        let answer = await answer(.post, "/link")
        #expect(answer.status == 405)
        #expect(answer.fields["Allow"] == "GET, HEAD, DELETE")
        #expect(await self.answer(HTTPMethod(rawValue: "get"), "/link").status == 405)
    }

    @Test("HEAD is answered where GET is, and only there")
    func head() async {
        #expect(await answer(.head, "/link").status == 200)
        #expect(await answer(.head, "/v1/devices/x/state").status == 200)
        #expect(await answer(.head, "/alexa/custom").status == 405)
        #expect(router.timeLimit(for: .head, target: "/link") == .seconds(20))
    }

    @Test(
        "an unknown path is 404",
        arguments: ["/", "/alexa/custom/", "/Alexa/custom", "//link", "/v1/devices//state", "/v1/devices/a/b/state"])
    func unknown(target: String) async {
        #expect(await answer(.get, target).status == 404)
    }

    @Test("a segment in braces is percent-decoded, and refused where it does not decode")
    func arguments() async {
        #expect(await answer(.get, "/v1/devices/a%2Fb%20c/state").body == Array("a/b c".utf8))
        #expect(await answer(.get, "/v1/devices/%C3%28/state").status == 400)
    }

    @Test("the time limit is that of the route that answers")
    func limits() {
        #expect(router.timeLimit(for: .post, target: "/alexa/custom?skill=a") == .seconds(7))
        #expect(router.timeLimit(for: .get, target: "/v1/devices/x/state") == .seconds(4))
        #expect(router.timeLimit(for: .get, target: "/nowhere") == .seconds(10))
    }
}
