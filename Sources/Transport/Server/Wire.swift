/// The bytes of one connection, plain or through TLS.
///
/// Used on its loop's thread alone. It owns its socket, and frees everything in ``close()``, which its connection calls
/// exactly once; nothing is told to the connection after that.
protocol Wire: AnyObject {
    /// Whom the bytes and events go to; nil before the start and after the end.
    var connection: Connection? { get set }

    /// Starts to read.
    func start()
    /// Sends, as far as the peer takes it at once, and keeps the rest; false where the peer is gone.
    func send(_ head: [UInt8], _ body: [UInt8]) -> Bool
    /// How many bytes the peer has not taken yet; ``Connection/drained()`` tells when there are none.
    var unsentBytes: Int { get }
    /// Reads on, or not.
    func setReading(_ isReading: Bool)
    /// Reads what has come already.
    func poll()
    /// Tells the peer that nothing more comes; called when nothing is unsent.
    func finish()
    /// Gives everything back to the system.
    func close()
}
