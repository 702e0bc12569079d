import Concurrency
public import Crypto
import Glibc

/// Judges passwords on two threads of its own: a check costs a tenth of a second by intent.
///
/// At most 32 wait; whoever comes then is told so at once, and the threads of the requests stay free. A user who does
/// not exist costs what one does who exists.
public final class PasswordChecks: Sendable {
    /// How many run at once.
    public static let threads = 2
    /// How many wait.
    public static let waitingLimit = 32

    /// What a check found.
    public enum Outcome: Sendable, Hashable {
        /// It is the user's password.
        case right
        /// It is not, or there is no such user.
        case wrong
        /// Too many wait.
        case busy
    }

    private struct Line {
        var running = 0
        var waiting: [@Sendable () -> Void] = []
    }

    private let line = Locked(Line())
    private let decoy: PasswordHash

    /// Checks whose cost for unknown users is that of `decoy`: the hash that new users get.
    public init(decoy: PasswordHash = .decoy) { self.decoy = decoy }

    /// Whether `password` is what `credential` was made of; nil stands for a user who does not exist.
    public func outcome(of password: Secret, for credential: Users.Credential?) async -> Outcome {
        let decoy = decoy
        return await withCheckedContinuation { continuation in
            let isTaken = enter {
                continuation.resume(returning: Self.isRight(password, credential, decoy) ? .right : .wrong)
            }
            if !isTaken { continuation.resume(returning: .busy) }
        }
    }

    private static func isRight(_ password: Secret, _ credential: Users.Credential?, _ decoy: PasswordHash) -> Bool {
        switch credential {
        case .hash(let hash): return hash.isMade(of: password)
        case .password(let known):
            // A plain password of development costs what a hash does, so that pages behave as they will.
            _ = decoy.isMade(of: password)
            return constantTimeEquals(SHA256.digest(known.exposed), SHA256.digest(password.exposed))
        case nil:
            _ = decoy.isMade(of: password)
            return false
        }
    }

    private func enter(_ job: @escaping @Sendable () -> Void) -> Bool {
        let place = line.withLock { line -> (isTaken: Bool, startsNow: Bool) in
            if line.running < Self.threads {
                line.running += 1
                return (true, true)
            }
            guard line.waiting.count < Self.waitingLimit else { return (false, false) }
            line.waiting.append(job)
            return (true, false)
        }
        if place.startsNow { start(job) }
        return place.isTaken
    }

    private func start(_ job: @escaping @Sendable () -> Void) {
        let work = PasswordWork {
            var job = job
            while true {
                job()
                let next = self.line.withLock { line -> (@Sendable () -> Void)? in
                    if line.waiting.isEmpty {
                        line.running -= 1
                        return nil
                    }
                    return line.waiting.removeFirst()
                }
                guard let next else { return }
                job = next
            }
        }
        var thread = pthread_t()
        let context = unsafe Unmanaged.passRetained(work).toOpaque()
        let failure = unsafe pthread_create(&thread, nil, runPasswordWork, context)
        precondition(failure == 0, "no thread to judge passwords: error \(failure)")
        pthread_detach(thread)
    }
}

/// What a thread does that judges passwords: one after the other, until nobody waits.
private final class PasswordWork: Sendable {
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    func run() { body() }
}

/// How far behind everything else passwords come (`nice`): on a machine that is busy to the brim a third of a fair share
/// is left to them, so that people still get in.
private let passwordNiceness: CInt = 5

/// The thread's body; a function, since a closure written elsewhere might belong to an actor.
private func runPasswordWork(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    // This thread alone: who signs in can wait, and requests for tokens need the processor at once.
    _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, passwordNiceness)
    if let context = unsafe context {
        unsafe Unmanaged<PasswordWork>.fromOpaque(context).takeRetainedValue().run()
    }
    return nil
}

extension PasswordHash {
    /// What a new password is hashed with, as design and documentation show it.
    public static let newCost = (logarithmic: 16, blockSize: 8, parallelism: 1)

    /// A hash that no password has: what is judged for users who do not exist.
    public static let decoy = PasswordHash(salt: SecureRandom.bytes(16), hash: SecureRandom.bytes(32))

    /// The hash of a new password; slow by intent.
    ///
    /// - Throws: `CryptoError` where there is not enough memory.
    public init(of password: Secret) throws(CryptoError) {
        let salt = SecureRandom.bytes(16)
        let key = try Scrypt.key(
            password: password, salt: salt, costExponent: Self.newCost.logarithmic,
            blockSize: Self.newCost.blockSize, parallelism: Self.newCost.parallelism)
        self.init(salt: salt, hash: key)
    }

    /// Whether it is the hash of `password`; slow by intent, so never on a thread of requests.
    func isMade(of password: Secret) -> Bool {
        let key = try? Scrypt.key(
            password: password, salt: salt, costExponent: logarithmicCost, blockSize: blockSize,
            parallelism: parallelism, count: hash.count)
        return key.map { constantTimeEquals($0, hash) } ?? false
    }

    /// The PHC string, as the store and the users file hold it.
    public var phc: Secret {
        func unpadded(_ bytes: [UInt8]) -> String { String(Base64.encode(bytes).prefix { $0 != "=" }) }
        return Secret(
            "$scrypt$ln=\(logarithmicCost),r=\(blockSize),p=\(parallelism)$\(unpadded(salt))$\(unpadded(hash))")
    }
}
