public import Alexa
public import Time

/// Ends links for an operator, in the way in which users end them.
///
/// The provider's tokens go, then Alexa's enablement, Amazon's tokens, and the link. The user's account stays.
public struct LinkAdministration: Sendable {
    /// What became of a link that was to end.
    public enum Outcome: Sendable, Hashable {
        /// It is ended, and Alexa has disabled the skill.
        case ended
        /// It is ended here, but Alexa could not be told: a link of the Alexa app, or Alexa did not answer. Its tokens are
        /// void all the same, so that its next request asks the user to link again.
        case endedHere
        /// The store does not answer; it can be done again.
        case failed
    }

    let ending: LinkEnding

    /// Ends a link.
    public func end(_ link: Link, by deadline: Deadline) async -> Outcome {
        do throws(LinkFault) {
            return try await ending.end(link, tellsAlexa: true, by: deadline) ? .ended : .endedHere
        } catch { return .failed }
    }
}
