import HTTP
import Testing
import Transport

@Suite("Addresses that may be called")
struct ClientAddressTests {
    @Test(
        "https anywhere, http to this machine; the origin names scheme, host and port",
        arguments: [
            ("https://api.amazon.com/auth/o2/token", "https://api.amazon.com:443"),
            ("HTTPS://API.Amazon.com", "https://api.amazon.com:443"),
            ("https://a.example:8443?x=/", "https://a.example:8443"),
            ("https://a_b.example/#f", "https://a_b.example:443"),
            ("https://192.0.2.1/", "https://192.0.2.1:443"),
            ("https://[2001:db8::1]:9/", "https://[2001:db8::1]:9"),
            ("http://127.0.0.1:80/", "http://127.0.0.1:80"),
            ("http://127.255.0.9", "http://127.255.0.9:80"),
            ("http://localhost:8080/a/../b", "http://localhost:8080"),
            ("http://[::1]:1/", "http://[::1]:1"),
        ])
    func accepted(url: String, origin: String) throws {
        #expect(try UpstreamAddress(url).origin == origin)
    }

    @Test(
        "anything else is refused",
        arguments: [
            "", "/", "a.example", "//a.example/", "ftp://a.example/", "file:///etc/passwd", "gopher://127.0.0.1/",
            "https:/a.example", "https://", "https:///x", "https://:443/", "https://user@a.example/",
            "https://user:word@a.example/", "https://a.example@b.example/", "https://a.example\\@b.example/",
            "https://a.example:0/", "https://a.example:65536/", "https://a.example:44a/", "https://a.example:/",
            "https://a.example: 443/", "https://a b.example/", "https://a.example/a b", "https://a.example/\r\nHost: b",
            "https://a.example/\u{0}", "https://ä.example/", "https://a%2eexample/", "https://[::1", "https://[]/",
            "https://[::1]x/", "https://[::1]:x/", "https://[a.example]/", "http://a.example/", "http://10.0.0.1/",
            "http://127.0.0.1.example/", "http://127.0.0.256/", "http://127.1/", "http://0x7f.0.0.1/",
            "http://localhost.example/", "http://128.0.0.1/", "http://[::2]/", "http://0.0.0.0/",
        ])
    func refused(url: String) {
        #expect(throws: HTTPClientError.address) { try UpstreamAddress(url) }
    }
}
