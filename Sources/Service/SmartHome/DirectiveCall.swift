import Alexa
import OAuth
import Telemetry
import Time

/// What a directive asks for: its interface has judged it, as far as there is one to judge it.
enum Wish {
    /// To take a code for sending events.
    case acceptGrant(AcceptGrant)
    /// To name the user's devices.
    case discover(Discover)
    /// To tell a device's state, or to have it do something.
    case device(CheckedDirective)

    /// - Throws: why it cannot be answered, with what the answer repeats.
    init(_ directive: Directive) throws(DirectiveRejection) {
        if let grant = try AcceptGrant(directive) {
            self = .acceptGrant(grant)
        } else if let discover = Discover(directive) {
            self = .discover(discover)
        } else {
            self = .device(try directive.checked())
        }
    }
}

/// On whose behalf a directive is answered, and by when.
struct DirectiveCall {
    let echo: DirectiveEcho
    let skill: SmartHomeSkill
    let region: AlexaRegion?
    let principal: Principal
    let start: ContinuousClock.Instant
    let deadline: Deadline
    let trace: Trace
}
