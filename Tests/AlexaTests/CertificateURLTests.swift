import Alexa
import JSON
import TestSupport
import Testing

@Suite("The address of a certificate chain") struct CertificateURLTests {
    static let good: [(String, String)] = [
        ("https://s3.amazonaws.com/echo.api/echo-api-cert.pem", "https://s3.amazonaws.com/echo.api/echo-api-cert.pem"),
        ("HTTPS://S3.AmazonAWS.com:443/echo.api/c.pem", "https://s3.amazonaws.com/echo.api/c.pem"),
        ("https://s3.amazonaws.com/echo.api/../echo.api/c.pem", "https://s3.amazonaws.com/echo.api/c.pem"),
        ("https://s3.amazonaws.com/x/%2E%2e/echo.api/c.pem", "https://s3.amazonaws.com/echo.api/c.pem"),
        ("https://s3.amazonaws.com/x/.%2e/echo.api/./c.pem", "https://s3.amazonaws.com/echo.api/c.pem"),
        ("https://s3.amazonaws.com/../echo.api/c.pem", "https://s3.amazonaws.com/echo.api/c.pem"),
        ("https://s3.amazonaws.com/%65cho.api/c%2Dd.pem", "https://s3.amazonaws.com/echo.api/c-d.pem"),
        ("https://s3.amazonaws.com/echo.api/a/..", "https://s3.amazonaws.com/echo.api/"),
        ("https://s3.amazonaws.com/echo.api/c%2b.pem", "https://s3.amazonaws.com/echo.api/c%2B.pem"),
        ("https://s3.amazonaws.com/echo.api/..c.pem", "https://s3.amazonaws.com/echo.api/..c.pem"),
    ]

    @Test("What is accepted has one normal form, which is what is fetched", arguments: good)
    func normalised(text: String, expected: String) throws {
        #expect(try CertificateURL(text).text == expected)
        #expect(try CertificateURL(expected).text == expected)
    }

    static let bad: [(String, CertificateURL.Fault)] = [
        ("", .syntax), ("badUrl", .syntax), ("https:/s3.amazonaws.com/echo.api/c", .syntax), ("https:", .syntax),
        ("https://s3.amazonaws.com\\@evil.example/echo.api/c", .syntax),
        ("https://s3.amazonaws.com/echo.\tapi/c", .syntax), ("https://s3.amazonaws.com/echo.api/c d", .syntax),
        ("https://s3．amazonaws.com/echo.api/c", .syntax), ("https://s3.amazonaws.com/echo.api/%zz", .syntax),
        ("https://s3.amazonaws.com/echo.api/%2", .syntax), (" https://s3.amazonaws.com/echo.api/c", .syntax),
        ("https://s3.amazonaws.com/echo.api/" + String(repeating: "a", count: 3000), .syntax),
        ("http://s3.amazonaws.com/echo.api/c", .scheme), ("ftp://s3.amazonaws.com/echo.api/c", .scheme),
        ("httpss://s3.amazonaws.com/echo.api/c", .scheme), ("://s3.amazonaws.com/echo.api/c", .scheme),
        ("https://user@s3.amazonaws.com/echo.api/c", .userinfo),
        ("https://s3.amazonaws.com@evil.example/echo.api/c", .userinfo),
        ("https://s3.amazonaws.com:443@evil.example/echo.api/c", .userinfo),
        ("https://@s3.amazonaws.com/echo.api/c", .userinfo),
        ("https://evil.example/echo.api/c", .host), ("https:///echo.api/c", .host),
        ("https://s3.amazonaws.com.evil.example/echo.api/c", .host), ("https://s3.amazonaws.com./echo.api/c", .host),
        ("https://xs3.amazonaws.com/echo.api/c", .host), ("https://[::1]/echo.api/c", .host),
        ("https://s3.us-east-1.amazonaws.com/echo.api/c", .host), ("https://s3%2Eamazonaws.com/echo.api/c", .host),
        ("https://s3.amazonaws.com:563/echo.api/c", .port), ("https://s3.amazonaws.com:0443/echo.api/c", .port),
        ("https://s3.amazonaws.com:443:443/echo.api/c", .port), ("https://s3.amazonaws.com:x/echo.api/c", .port),
        ("https://s3.amazonaws.com", .path), ("https://s3.amazonaws.com/", .path),
        ("https://s3.amazonaws.com/echo.api", .path), ("https://s3.amazonaws.com//echo.api/c", .path),
        ("https://s3.amazonaws.com/EcHo.aPi/c", .path), ("https://s3.amazonaws.com/echo.api/../c", .path),
        ("https://s3.amazonaws.com/echo.api/%2e%2E/c", .path), ("https://s3.amazonaws.com/echo.api/..%2fc", .path),
        ("https://s3.amazonaws.com/echo.api/%252e%252e/c", .path), ("https://s3.amazonaws.com/echo.api/..%5Cc", .path),
        ("https://s3.amazonaws.com/echo.api%2Fc", .path), ("https://s3.amazonaws.com/echo.api/%00", .path),
        ("https://s3.amazonaws.com/bucket/echo.api/c", .path), ("https://s3.amazonaws.com/echo.api/..", .path),
        ("https://s3.amazonaws.com/echo.api/c?x=1", .query), ("https://s3.amazonaws.com/echo.api/c?", .query),
        ("https://s3.amazonaws.com?x=/echo.api/c", .query),
        ("https://s3.amazonaws.com/echo.api/c#x", .fragment), ("https://s3.amazonaws.com/echo.api/c?x#y", .fragment),
        ("https://s3.amazonaws.com#/echo.api/c", .fragment),
    ]

    @Test("What is refused says which rule it breaks", arguments: bad)
    func refused(text: String, fault: CertificateURL.Fault) {
        #expect(throws: fault) { try CertificateURL(text) }
    }

    @Test("Every vector of other verifiers is judged as they do", .needsFixture("alexa-request-signing"))
    func vectors() throws {
        let file = try Fixtures.bytes("alexa-request-signing/signature_url_vectors.json")
        let vectors = try #require(try JSONValue(parsing: file)["vectors"]?.array)
        #expect(vectors.count >= 32)
        for vector in vectors {
            let url = try #require(vector["url"]?.string)
            let isGood = (try? CertificateURL(url)) != nil
            switch vector["expected"]?.string {
            case "valid": #expect(isGood, "\(url)")
            case "invalid": #expect(!isGood, "\(url)")
            default: continue
            }
        }
    }
}
