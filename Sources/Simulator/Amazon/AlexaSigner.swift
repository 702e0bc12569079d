public import Crypto
public import HTTP
import Time

/// Signs requests as Alexa does.
public struct AlexaSigner: Sendable {
    /// Where Alexa's certificates lie.
    public static let chainFolder = "https://s3.amazonaws.com/echo.api/"
    /// The file that holds the certificates of an authority's ``Authority/signing`` identity.
    public static let chainFile = "echo-api-cert-test.pem"

    private let key: PrivateKey
    /// The address of the certificates, as the header names it.
    public let chainURL: String

    /// Signs by `key`, whose certificates lie at `chainURL`.
    public init(key: PrivateKey, chainURL: String = AlexaSigner.chainFolder + AlexaSigner.chainFile) {
        self.key = key
        self.chainURL = chainURL
    }

    /// Signs by an authority's signing identity.
    public init(_ authority: Authority) { self.init(key: authority.signing.key) }

    /// The headers that Alexa sends with `body`.
    ///
    /// - Throws: `CryptoError` where the key cannot sign.
    public func headers(for body: [UInt8], fault: SigningFault? = nil) throws(CryptoError) -> HTTPFields {
        var signed = body
        var key = key
        var url = chainURL
        switch fault {
        case .otherBody: signed.append(UInt8(ascii: " "))
        case .otherKey: key = try PrivateKey.generate(.rsa2048)
        case .chainURL(let other): url = other
        default: break
        }
        let signature = Base64.encode(try key.signature(of: signed, algorithm: .rs256))
        var fields: HTTPFields = [
            "Content-Type": "application/json;charset=UTF-8", "Accept": "application/json", "Accept-Charset": "utf-8",
        ]
        if fault != .noChainURL { fields.append("SignatureCertChainUrl", url) }
        switch fault {
        case .noSignature: break
        case .emptySignature: fields.append("Signature-256", "")
        case .malformedSignature: fields.append("Signature-256", "?" + signature.dropFirst())
        default: fields.append("Signature-256", signature)
        }
        return fields
    }
}

/// What can be wrong with the headers of a signed request; what can be wrong with the certificates is a ``ChainFault``.
public enum SigningFault: Hashable, Sendable {
    /// The signature is over one byte more.
    case otherBody
    /// The signature is by another key than the certificate's.
    case otherKey
    /// The certificates are said to lie elsewhere.
    case chainURL(String)
    /// The header with the certificates' address is missing.
    case noChainURL
    /// The signature's header is missing.
    case noSignature
    /// The signature's header is empty.
    case emptySignature
    /// The signature is no base64.
    case malformedSignature
}
