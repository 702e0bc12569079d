internal import COpenSSL
internal import Concurrency
internal import Glibc

/// Certificate and key of a server, and how it speaks TLS.
///
/// Connections keep the context that they began with, so a reload disturbs none.
@safe final class TLSContext: @unchecked Sendable {
    // Unchecked: an SSL_CTX counts its references and is not changed once it is made.
    private let context: OpaquePointer

    /// Reads the files of `files`.
    ///
    /// - Throws: ``ServerError`` where one cannot be read, or they do not fit each other.
    init(_ files: TLSFiles) throws(ServerError) {
        guard let context = unsafe SSL_CTX_new(TLS_server_method()) else { throw ServerError("no memory for TLS") }
        unsafe self.context = context
        unsafe SSL_CTX_set_options(context, noRenegotiation | noCompression | serversCiphers | quietEOF)
        unsafe SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
        // Idle connections give their buffers back.
        unsafe SSL_CTX_ctrl(context, SSL_CTRL_MODE, Int(SSL_MODE_RELEASE_BUFFERS), nil)
        // A key with a passphrase is an error, not a question on the terminal.
        unsafe SSL_CTX_set_default_passwd_cb(context) { _, _, _, _ in -1 }
        // No callback judges the name that the client asks for: an unknown one gets this certificate too.
        unsafe SSL_CTX_set_alpn_select_cb(context, selectProtocol, nil)
        ERR_clear_error()
        guard unsafe SSL_CTX_use_certificate_chain_file(context, files.certificate) == 1 else {
            throw ServerError("\(files.certificate) holds no certificate that can be read: \(latestReason())")
        }
        guard unsafe SSL_CTX_use_PrivateKey_file(context, files.privateKey, SSL_FILETYPE_PEM) == 1 else {
            throw ServerError(
                "\(files.privateKey) holds no private key for the certificate that can be read: \(latestReason())")
        }
        guard unsafe SSL_CTX_check_private_key(context) == 1 else {
            throw ServerError("\(files.privateKey) is not the private key of \(files.certificate)")
        }
    }

    deinit { unsafe SSL_CTX_free(context) }

    /// The state of a new connection, owned by the caller; nil where there is no memory.
    func connection() -> OpaquePointer? { unsafe SSL_new(context) }
}

// Macros that Swift does not see (openssl/ssl.h).
private let quietEOF: UInt64 = 1 << 7
private let noCompression: UInt64 = 1 << 17
private let serversCiphers: UInt64 = 1 << 22
private let noRenegotiation: UInt64 = 1 << 30

private func latestReason() -> String {
    let code = ERR_get_error()
    ERR_clear_error()
    guard let reason = unsafe ERR_reason_error_string(code) else { return "no reason given" }
    return unsafe String(cString: reason)
}

/// Agrees to HTTP/1.1 where the client offers it, and to nothing else.
private func selectProtocol(
    _: OpaquePointer?, _ selected: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    _ selectedCount: UnsafeMutablePointer<UInt8>?, _ offered: UnsafePointer<UInt8>?, _ offeredCount: UInt32,
    _: UnsafeMutableRawPointer?
) -> CInt {
    guard let offered = unsafe offered else { return SSL_TLSEXT_ERR_NOACK }
    var index = 0
    while index < Int(offeredCount) {
        let count = Int(unsafe offered[index])
        guard index + 1 + count <= Int(offeredCount) else { break }
        let name = unsafe UnsafeBufferPointer(start: offered + index + 1, count: count)
        if unsafe name.elementsEqual("http/1.1".utf8) {
            unsafe selected?.pointee = offered + index + 1
            unsafe selectedCount?.pointee = UInt8(count)
            return SSL_TLSEXT_ERR_OK
        }
        index += 1 + count
    }
    return SSL_TLSEXT_ERR_NOACK
}
