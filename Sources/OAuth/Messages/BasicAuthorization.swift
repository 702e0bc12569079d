public import Crypto
import HTTP

/// The `Authorization` of HTTP Basic for an OAuth client: both parts are form-encoded first (RFC 6749 §2.3.1).
public func basicAuthorization(id: String, secret: Secret) -> String {
    "Basic " + Base64.encode(Array("\(formEncoded(id)):\(formEncoded(secret.exposed))".utf8))
}

private func formEncoded(_ text: String) -> String {
    var form = Form()
    form.append("", text)
    return String(form.encodedText.dropFirst())
}
