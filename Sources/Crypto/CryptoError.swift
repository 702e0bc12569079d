import CCrypto

/// Why a key, a certificate or a sealed text is of no use; never quotes it.
public struct CryptoError: Error, Hashable, Sendable {
    /// What is wrong, in a few words.
    public let reason: String

    /// An error with that reason.
    public init(reason: String) { self.reason = reason }
}

/// Room that C fills with a reason.
struct Reason {
    var characters = [CChar](repeating: 0, count: Int(CCRYPTO_REASON_BYTES))

    var text: String { String(decoding: characters.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self) }
    func error(_ what: String) -> CryptoError { CryptoError(reason: "\(what): \(text)") }
}
