import Alexa
import Time

// What both stores do with a record before they write it.

extension LinkAttempt {
    func used(at now: UnixTime) -> LinkAttempt {
        LinkAttempt(
            stateHash: stateHash, subject: subject, skill: skill, redirectURI: redirectURI, verifier: verifier,
            flow: flow, browser: browser, returnURL: returnURL, traceID: traceID, createdAt: createdAt,
            expiresAt: expiresAt, usedAt: now)
    }
}

extension Link {
    /// The link as linked, at its next version: nothing is left to be asked.
    var settled: Link {
        var link = at(version: version + 1)
        link.status = .linked
        link.dueAt = nil
        link.candidates = []
        return link
    }
}

extension LinkJoin {
    /// This join where `known` was stored: the first time stays while the user does, and so does a known region.
    func after(_ known: LinkJoin?) -> LinkJoin {
        guard let known, known.subject == subject else { return self }
        return LinkJoin(
            skill: skill, alexaUserID: alexaUserID, subject: subject, providerGrantID: providerGrantID,
            region: region ?? known.region, seenAt: seenAt, firstSeenAt: min(known.firstSeenAt, firstSeenAt))
    }

    /// Whether both say the same, at whatever time.
    func isSame(as other: LinkJoin) -> Bool {
        subject == other.subject && providerGrantID == other.providerGrantID
    }
}
