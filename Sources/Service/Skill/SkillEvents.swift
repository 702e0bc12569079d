import Alexa
import Concurrency
import OAuth

/// What skill events change: whom an Alexa user stood for is forgotten when the skill is disabled.
final class SkillEvents: Sendable {
    /// How many event ids are remembered, so that a copy does nothing.
    private static let eventLimit = 10_000
    /// For how many Alexa users the subject is remembered.
    private static let userLimit = 20_000

    private let seen = Locked(BoundedCache<String, Bool>(capacity: eventLimit))
    private let subjects = Locked(BoundedCache<String, String>(capacity: userLimit))
    private let validator: TokenValidator
    private let resources: ResourceClient

    init(validator: TokenValidator, resources: ResourceClient) {
        self.validator = validator
        self.resources = resources
    }

    /// Remembers that the token of an Alexa user stood for `subject`.
    func saw(_ userID: String, as subject: String) {
        subjects.withLock { subjects in
            if subjects.value(for: userID) != subject { subjects.insert(subject, for: userID) }
        }
    }

    /// Whether an event of that id comes for the first time.
    func isFirst(_ requestID: String) -> Bool {
        seen.withLock { seen in
            if seen.value(for: requestID) != nil { return false }
            seen.insert(true, for: requestID)
            return true
        }
    }

    /// The event of that id did not reach its handler, or the handler failed: a copy of it is the first again.
    func failed(_ requestID: String) {
        seen.withLock { _ = $0.remove(requestID) }
    }

    /// Does what an event asks for.
    func received(_ event: SkillEvent, in envelope: RequestEnvelope) {
        switch event.kind {
        case .disabled:
            if let token = envelope.accessToken { validator.forget(token: token) }
            guard let userID = envelope.userID, let subject = subjects.withLock({ $0.remove(userID) }) else { return }
            validator.forget(subject: subject)
            resources.forget(subject: subject)
        case .enabled, .accountLinked, .permissionAccepted, .permissionChanged, .proactiveSubscriptionChanged,
            .notificationSubscriptionChanged:
            break
        }
    }
}
