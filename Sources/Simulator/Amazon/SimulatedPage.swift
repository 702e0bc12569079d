import HTTP

/// A page of a simulated host, for a browser on this machine.
enum SimulatedPage {
    /// A page: whose it is, its heading, and HTML.
    static func answer(of owner: String, _ heading: String, _ content: String, status: Int = 200) -> HTTPResponse {
        let html = """
            <!doctype html><html lang="en"><head><meta charset="utf-8"><title>\(escaped(owner))</title>
            <meta name="viewport" content="width=device-width, initial-scale=1"><style>\(style)</style></head>
            <body><main><p class="quiet">\(escaped(owner))</p><h1>\(escaped(heading))</h1>
            \(content)</main></body></html>
            """
        return HTTPResponse(
            status: status,
            fields: [
                "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store", "X-Frame-Options": "DENY",
                "Referrer-Policy": "no-referrer",
            ], body: Array(html.utf8))
    }

    /// Leads the browser on.
    static func redirect(to address: String) -> HTTPResponse {
        HTTPResponse(status: 303, fields: ["Location": address, "Cache-Control": "no-store"])
    }

    static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("\"", with: "&quot;").replacing("<", with: "&lt;")
    }

    private static let style = """
        :root{color-scheme:light dark}body{font:17px/1.5 system-ui,sans-serif;margin:0;padding:24px 16px}
        main{max-width:440px;margin:auto}h1{font-size:24px;margin:0 0 8px}h1~h1{margin-top:36px}h2{font-size:19px;margin:28px 0 0}.quiet{opacity:.75;margin:0}
        button{font:inherit;width:100%;min-height:48px;padding:10px 16px;border:0;border-radius:10px;background:#1f6feb;color:#fff}
        button.no{background:none;color:inherit;border:1px solid}form{margin:8px 0}code{overflow-wrap:anywhere}
        """
}
