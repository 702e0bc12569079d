internal import CCurl
internal import HTTP
internal import Time

/// One call to another server; belongs to its loop once it is started.
final class CurlCall: @unchecked Sendable {
    // Unchecked: made by the caller, then touched on the loop's thread alone.
    typealias Outcome = Result<HTTPResponse, HTTPClientError>

    let request: OutgoingRequest
    let deadline: Deadline
    var continuation: CheckedContinuation<Outcome, Never>?
    var isCancelled = false
    /// What carries it, while it runs.
    var transfer: CurlTransfer?

    init(request: OutgoingRequest, deadline: Deadline) {
        self.request = request
        self.deadline = deadline
    }

    /// Hands over the outcome; only the first one counts.
    func finish(_ outcome: Outcome) {
        continuation.take()?.resume(returning: outcome)
    }
}

/// An easy handle of libcurl with what one call at a time needs around it.
///
/// Used again for many calls: what is the same for all is set once, what a call brings is set anew each time.
@safe final class CurlTransfer {
    let easy: UnsafeMutableRawPointer
    private(set) var call: CurlCall?
    private(set) var reader = AnswerReader(headerLimitBytes: 0, bodyLimitBytes: 0)
    private var timer: LoopTimer?
    private var fields: UnsafeMutablePointer<curl_slist>?
    private var sentBodyBytes = 0
    private let connectTimeout: Duration
    private let headerLimitBytes: Int

    /// A handle whose calls end with `expired` when their deadline passes.
    ///
    /// `resolve` (CURLOPT_CONNECT_TO) must live as long; nil where there is no memory.
    init?(
        _ configuration: ClientConfiguration, resolve: UnsafeMutablePointer<curl_slist>?, loop: EventLoop,
        expired: @escaping (CurlTransfer) -> Void
    ) {
        guard let easy = unsafe curl_easy_init() else { return nil }
        unsafe self.easy = easy
        connectTimeout = configuration.connectTimeout
        headerLimitBytes = configuration.headerLimitBytes
        timer = LoopTimer(on: loop) { [weak self] in
            if let self { expired(self) }
        }
        unsafe setAlways(configuration, resolve: resolve)
    }

    deinit {
        unsafe curl_easy_cleanup(easy)
        unsafe curl_slist_free_all(fields)
    }

    private func setAlways(_ configuration: ClientConfiguration, resolve: UnsafeMutablePointer<curl_slist>?) {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        for (option, value): (CURLoption, Int) in [
            // A look-up that hangs would hold the loop when its call is removed.
            (CURLOPT_QUICK_EXIT, 1),
            (CURLOPT_NOSIGNAL, 1),
            // `/a/../b` is what was asked for.
            (CURLOPT_PATH_AS_IS, 1),
            (CURLOPT_FOLLOWLOCATION, 0),
            // One call a connection, so that what breaks one call breaks no other.
            (CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1)),
            (CURLOPT_HTTP09_ALLOWED, 0),
            (CURLOPT_HTTP_CONTENT_DECODING, 0),
            (CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)),
            (CURLOPT_SSL_VERIFYPEER, 1),
            (CURLOPT_SSL_VERIFYHOST, 2),
            (CURLOPT_SUPPRESS_CONNECT_HEADERS, 1),
            (CURLOPT_MAXAGE_CONN, configuration.idleSeconds),
            (CURLOPT_UPLOAD_BUFFERSIZE, 16_384),
        ] { unsafe easy_set_long(easy, option, value) }
        for (option, value): (CURLoption, String?) in [
            (CURLOPT_PROTOCOLS_STR, "http,https"),
            // Empty and not absent: absent, the environment's proxy is used.
            (CURLOPT_PROXY, configuration.proxy ?? ""),
            (CURLOPT_NOPROXY, "localhost,127.0.0.1,::1"),
            (CURLOPT_CAPATH, configuration.authorityFolder),
            // In place of the system's bundle, which takes 40 ms to load.
            (CURLOPT_CAINFO, configuration.caFile),
            (CURLOPT_USERAGENT, "skillgate"),
        ] { unsafe easy_set_text(easy, option, value) }
        unsafe easy_set_list(easy, CURLOPT_CONNECT_TO, resolve)
        for option in [
            CURLOPT_HEADERDATA, CURLOPT_WRITEDATA, CURLOPT_READDATA, CURLOPT_SEEKDATA, CURLOPT_PRIVATE,
        ] { unsafe easy_set_pointer(easy, option, context) }
        unsafe easy_set_transfer_function(easy, CURLOPT_HEADERFUNCTION, headerArrived)
        unsafe easy_set_transfer_function(easy, CURLOPT_WRITEFUNCTION, bodyArrived)
        unsafe easy_set_transfer_function(easy, CURLOPT_READFUNCTION, bodyWanted)
        unsafe easy_set_seek_function(easy, bodyWantedAgain)
    }

    /// Makes ready for `call`, which has `remaining` left.
    func begin(_ call: CurlCall, remaining: Duration) {
        let request = call.request
        self.call = call
        call.transfer = self
        sentBodyBytes = 0
        reader = AnswerReader(headerLimitBytes: headerLimitBytes, bodyLimitBytes: request.answerLimitBytes)
        unsafe easy_set_text(easy, CURLOPT_URL, request.url)
        // Not cut to the deadline, which has a timer of its own: what ends a call then is one or the other.
        unsafe easy_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, wholeMilliseconds(connectTimeout))
        let isBodiless = request.body == nil
        if isBodiless {
            unsafe easy_set_long(easy, CURLOPT_HTTPGET, 1)
            unsafe easy_set_long(easy, CURLOPT_NOBODY, request.method == .head ? 1 : 0)
        } else {
            unsafe easy_set_long(easy, CURLOPT_POST, 1)
            unsafe easy_set_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(request.body?.count ?? 0))
        }
        let usual: HTTPMethod = isBodiless ? (request.method == .head ? .head : .get) : .post
        unsafe easy_set_text(
            easy, CURLOPT_CUSTOMREQUEST, request.method == usual ? nil : request.method.rawValue)
        // libcurl repeats a call whose used connection turns out dead, which must not happen to a call that may have
        // been carried out. Where a body is sent, `bodyWantedAgain` prevents that; without one a new connection does.
        let isFresh = !request.method.isIdempotent && (request.body ?? []).isEmpty
        unsafe easy_set_long(easy, CURLOPT_FRESH_CONNECT, isFresh ? 1 : 0)
        for line in headerLines(request) { unsafe fields = curl_slist_append(fields, line) }
        unsafe easy_set_list(easy, CURLOPT_HTTPHEADER, fields)
        timer?.start(after: remaining)
    }

    /// Lets go of the call, so that the handle can serve another.
    func end() -> CurlCall? {
        timer?.stop()
        unsafe easy_set_list(easy, CURLOPT_HTTPHEADER, nil)
        unsafe curl_slist_free_all(fields)
        unsafe fields = nil
        reader = AnswerReader(headerLimitBytes: 0, bodyLimitBytes: 0)
        call?.transfer = nil
        return call.take()
    }

    /// What became of the call, which libcurl ended with `code`.
    func outcome(_ code: CURLcode) -> CurlCall.Outcome {
        guard code == CURLE_OK else { return .failure(failure(code)) }
        guard reader.hasWholeHeader else { return .failure(.broken("the connection ended within the header")) }
        return .success(reader.response)
    }

    /// What to say of a call that is given up here.
    func abandoned(_ reason: String) -> CurlCall.Outcome {
        .failure(sentBytes > 0 ? .broken(reason) : .unreachable(reason))
    }

    /// Bytes of the request that left, on every connection that was tried.
    private var sentBytes: Int {
        var count = 0
        unsafe easy_get_long(easy, CURLINFO_REQUEST_SIZE, &count)
        return count
    }

    private func failure(_ code: CURLcode) -> HTTPClientError {
        switch reader.refusal {
        case .bodyTooLarge, .headerTooLarge: return .answerTooLarge
        case .malformed: return .broken("the answer is not HTTP")
        case nil: break
        }
        let text = unsafe String(cString: curl_easy_strerror(code))
        if sentBytes > 0 { return code == CURLE_OPERATION_TIMEDOUT ? .timedOut : .broken(text) }
        switch code {
        case CURLE_OPERATION_TIMEDOUT: return .unreachable("connecting took too long")
        case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL: return .address
        case CURLE_SSL_CONNECT_ERROR:
            // The same code stands for a connection that broke while TLS was agreed.
            var number = 0
            unsafe easy_get_long(easy, CURLINFO_OS_ERRNO, &number)
            return number != 0 ? .unreachable(text) : .tls(text)
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_CACERT_BADFILE,
            CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
            CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED:
            return .tls(text)
        default: return .unreachable(text)
        }
    }

    fileprivate func take(headerLine: UnsafeRawBufferPointer) -> Bool { unsafe reader.take(headerLine: headerLine) }

    fileprivate func take(body: UnsafeRawBufferPointer) -> Bool { unsafe reader.take(body: body) }

    fileprivate func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        guard let body = call?.request.body else { return 0 }
        let count = min(buffer.count, body.count - sentBodyBytes)
        guard count > 0 else { return 0 }
        unsafe body.withUnsafeBytes { bytes in
            unsafe buffer.copyMemory(
                from: UnsafeRawBufferPointer(rebasing: bytes[sentBodyBytes..<sentBodyBytes + count]))
        }
        sentBodyBytes += count
        return count
    }

    fileprivate func rewind(to offset: Int) -> Bool {
        guard let request = call?.request, let body = request.body, request.method.isIdempotent,
            (0...body.count).contains(offset)
        else { return false }
        sentBodyBytes = offset
        return true
    }
}

extension HTTPMethod {
    /// Whether a request may be sent twice to the effect of once (RFC 9110 §9.2.2).
    fileprivate var isIdempotent: Bool { [.get, .head, .put, .delete].contains(self) }
}

/// The header as libcurl takes it: `Name: value`, `Name;` for an empty value, `Name:` to leave out its own.
private func headerLines(_ request: OutgoingRequest) -> [String] {
    var lines: [String] = []
    if request.body != nil {
        lines.append("Expect:")
        if request.fields["Content-Type"] == nil { lines.append("Content-Type:") }
    }
    for field in request.fields.lines
    where !equalsIgnoringCase(field.name, "content-length") && !equalsIgnoringCase(field.name, "transfer-encoding") {
        lines.append(field.value.isEmpty ? field.name + ";" : field.name + ": " + field.value)
    }
    return lines
}

/// Rounded up, and at least 1, since 0 stands for no limit.
private func wholeMilliseconds(_ duration: Duration) -> Int {
    let (seconds, attoseconds) = duration.components
    let (product, overflow) = Int(seconds).multipliedReportingOverflow(by: 1000)
    guard !overflow else { return Int(Int32.max) }
    return max(1, min(Int(Int32.max), product + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)))
}

// C calls these: plain functions, isolated to nothing.

private func transfer(_ context: UnsafeMutableRawPointer?) -> CurlTransfer? {
    guard let context = unsafe context else { return nil }
    return unsafe Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
}

private func headerArrived(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    let line = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
    return unsafe transfer(context)?.take(headerLine: line) == true ? line.count : -1
}

private func bodyArrived(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    let piece = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
    return unsafe transfer(context)?.take(body: piece) == true ? piece.count : -1
}

private func bodyWanted(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    unsafe transfer(context)?.fill(UnsafeMutableRawBufferPointer(start: bytes, count: size * count)) ?? 0
}

private func bodyWantedAgain(_ context: UnsafeMutableRawPointer?, _ offset: curl_off_t, _ origin: CInt) -> CInt {
    guard origin == SEEK_SET, unsafe transfer(context)?.rewind(to: Int(offset)) == true else {
        return CURL_SEEKFUNC_FAIL
    }
    return CURL_SEEKFUNC_OK
}
