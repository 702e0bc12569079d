#if THREAD_SANITIZER
    import Glibc
#else
    public import Synchronization
#endif

/// A value that several threads share, each under the lock.
///
/// The body must not wait: it is synchronous, so no lock is ever held across an `await`. Thread sanitizer builds use a
/// `pthread_mutex_t`, since the sanitizer does not see `Synchronization.Mutex` and reports races that are none.
@safe public final class Locked<Value>: @unchecked Sendable {
    // Unchecked because the value is touched under the lock only.
    #if THREAD_SANITIZER
        private let mutex: UnsafeMutablePointer<pthread_mutex_t>
        private var value: Value

        /// Guards `value`.
        public init(_ value: sending Value) {
            unsafe mutex = .allocate(capacity: 1)
            unsafe pthread_mutex_init(mutex, nil)
            self.value = value
        }

        deinit {
            unsafe pthread_mutex_destroy(mutex)
            unsafe mutex.deallocate()
        }

        /// Runs `body` with the value, alone.
        public func withLock<Result, Failure: Error>(
            _ body: (inout Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            unsafe pthread_mutex_lock(mutex)
            defer { unsafe pthread_mutex_unlock(mutex) }
            return try body(&value)
        }
    #else
        // Inlinable, so that other modules use it made for their type: every request takes several locks.
        @usableFromInline let mutex: Mutex<Value>

        /// Guards `value`.
        @inlinable public init(_ value: sending Value) { mutex = Mutex(value) }

        /// Runs `body` with the value, alone.
        @inlinable
        public func withLock<Result, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            try mutex.withLock(body)
        }
    #endif
}
