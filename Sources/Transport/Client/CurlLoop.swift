internal import CCurl
internal import HTTP
internal import Time

/// The calls that one event loop carries: a multi handle of libcurl, its sockets and its timer.
///
/// Touched on the loop's thread alone, so it needs no lock.
@safe final class CurlLoop: @unchecked Sendable {
    // Unchecked: the loop's thread alone touches what changes.
    let loop: EventLoop
    private let configuration: ClientConfiguration
    private var multi: UnsafeMutableRawPointer?
    private var resolve: UnsafeMutablePointer<curl_slist>?
    private var timer: LoopTimer?
    /// What libcurl asked of the timer since it was last set, in milliseconds; negative stops it.
    private var wantedTimeout: Int?
    private var running: [ObjectIdentifier: CurlTransfer] = [:]
    private var idle: [CurlTransfer] = []
    private var isClosed = false

    init(loop: EventLoop, configuration: ClientConfiguration) {
        self.loop = loop
        self.configuration = configuration
    }

    func start(_ call: CurlCall) {
        guard !call.isCancelled else { return call.finish(.failure(.cancelled)) }
        let remaining = call.deadline.remaining(at: .now)
        guard remaining > .zero else { return call.finish(.failure(.timedOut)) }
        guard let multi = unsafe openMulti(), let transfer = takeTransfer() else {
            return call.finish(.failure(.unreachable(isClosed ? "the client was shut down" : "no memory")))
        }
        transfer.begin(call, remaining: remaining)
        running[ObjectIdentifier(transfer)] = transfer
        guard unsafe curl_multi_add_handle(multi, transfer.easy) == CURLM_OK else {
            return finish(transfer, .failure(.unreachable("libcurl takes no call")))
        }
        // Begins at once what would else wait for the timer.
        drive(CURL_SOCKET_TIMEOUT, 0)
    }

    func cancel(_ call: CurlCall) {
        call.isCancelled = true
        if let transfer = call.transfer { finish(transfer, .failure(.cancelled)) }
    }

    /// Ends what runs, and gives everything back; calls that come later are refused.
    func close() {
        isClosed = true
        for transfer in Array(running.values) {
            finish(transfer, transfer.abandoned("the client was shut down"))
        }
        idle = []
        if let multi = unsafe multi { unsafe curl_multi_cleanup(multi) }
        unsafe multi = nil
        timer?.stop()
        timer = nil
        unsafe curl_slist_free_all(resolve)
        unsafe resolve = nil
    }

    /// Lets libcurl act on `socket`, and hands over what has ended.
    private func drive(_ socket: curl_socket_t, _ events: CInt) {
        guard let multi = unsafe multi else { return }
        var count: CInt = 0
        unsafe curl_multi_socket_action(multi, socket, events, &count)
        var left: CInt = 0
        while let message = unsafe curl_multi_info_read(multi, &left) {
            guard unsafe message.pointee.msg == CURLMSG_DONE else { continue }
            let code = unsafe message_result(message)
            var context: UnsafeMutableRawPointer?
            unsafe easy_get_pointer(message.pointee.easy_handle, CURLINFO_PRIVATE, &context)
            guard let context = unsafe context else { continue }
            let transfer = unsafe Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
            finish(transfer, transfer.outcome(code))
        }
        setTimer()
    }

    private func finish(_ transfer: CurlTransfer, _ outcome: CurlCall.Outcome) {
        running[ObjectIdentifier(transfer)] = nil
        if let multi = unsafe multi { unsafe curl_multi_remove_handle(multi, transfer.easy) }
        let call = transfer.end()
        if !isClosed, idle.count < configuration.idleConnections { idle.append(transfer) }
        call?.finish(outcome)
        setTimer()
    }

    private func takeTransfer() -> CurlTransfer? {
        if let transfer = idle.popLast() { return transfer }
        return unsafe CurlTransfer(configuration, resolve: resolve, loop: loop) { [weak self] transfer in
            self?.finish(transfer, .failure(.timedOut))
        }
    }

    private func openMulti() -> UnsafeMutableRawPointer? {
        if let multi = unsafe multi { return unsafe multi }
        guard !isClosed, let multi = unsafe curl_multi_init() else { return nil }
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe multi_set_socket_function(multi, socketChanged, context)
        unsafe multi_set_timer_function(multi, timerWanted, context)
        unsafe multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, configuration.connectionsPerHost)
        unsafe multi_set_long(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, configuration.connections)
        unsafe multi_set_long(multi, CURLMOPT_MAXCONNECTS, configuration.idleConnections)
        for entry in configuration.resolve { unsafe resolve = curl_slist_append(resolve, entry) }
        timer = LoopTimer(on: loop) { [weak self] in self?.drive(CURL_SOCKET_TIMEOUT, 0) }
        unsafe self.multi = multi
        return unsafe multi
    }

    /// Does what libcurl asked of the timer last; once a call into libcurl, however often it asked.
    private func setTimer() {
        guard let milliseconds = wantedTimeout.take() else { return }
        if milliseconds < 0 { timer?.stop() } else { timer?.start(after: .milliseconds(milliseconds)) }
    }

    fileprivate func want(timeout milliseconds: Int) { wantedTimeout = milliseconds }

    fileprivate func watch(_ socket: curl_socket_t, for wanted: CInt, by known: UnsafeMutableRawPointer?) {
        guard wanted != CURL_POLL_REMOVE else {
            guard let known = unsafe known else { return }
            unsafe Unmanaged<SocketWatcher>.fromOpaque(known).takeRetainedValue().stop()
            unsafe curl_multi_assign(multi, socket, nil)
            return
        }
        let watcher: SocketWatcher
        if let known = unsafe known {
            watcher = unsafe Unmanaged<SocketWatcher>.fromOpaque(known).takeUnretainedValue()
        } else {
            watcher = SocketWatcher(on: loop, descriptor: socket) { [weak self] ready in
                var events: CInt = 0
                if ready.contains(.read) { events |= CURL_CSELECT_IN }
                if ready.contains(.write) { events |= CURL_CSELECT_OUT }
                self?.drive(socket, events)
            }
            unsafe curl_multi_assign(multi, socket, Unmanaged.passRetained(watcher).toOpaque())
        }
        var interest: SocketWatcher.Interest = []
        if wanted == CURL_POLL_IN || wanted == CURL_POLL_INOUT { interest.insert(.read) }
        if wanted == CURL_POLL_OUT || wanted == CURL_POLL_INOUT { interest.insert(.write) }
        watcher.watch(interest)
    }
}

// C calls these: plain functions, isolated to nothing.

private func socketChanged(
    _: UnsafeMutableRawPointer?, _ socket: curl_socket_t, _ wanted: CInt, _ context: UnsafeMutableRawPointer?,
    _ known: UnsafeMutableRawPointer?
) -> CInt {
    guard let context = unsafe context else { return -1 }
    unsafe Unmanaged<CurlLoop>.fromOpaque(context).takeUnretainedValue().watch(socket, for: wanted, by: known)
    return 0
}

private func timerWanted(
    _: UnsafeMutableRawPointer?, _ milliseconds: Int, _ context: UnsafeMutableRawPointer?
) -> CInt {
    guard let context = unsafe context else { return -1 }
    unsafe Unmanaged<CurlLoop>.fromOpaque(context).takeUnretainedValue().want(timeout: milliseconds)
    return 0
}
