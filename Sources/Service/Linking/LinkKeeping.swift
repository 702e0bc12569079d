import Alexa
import Telemetry
import Time

/// Keeps links and their tokens of Amazon's in step: begun, settled, dropped.
struct LinkKeeping: Sendable {
    /// How often a link is settled anew where somebody else changed it in between.
    private static let tries = 3

    let store: any LinkStore & GrantStore
    let ending: LinkEnding
    let clock: WallClock
    let log: Log

    /// Stores a pending link and Amazon's tokens, so that it can be settled by whoever finds it.
    func begin(_ link: Link, _ tokens: AmazonCredentials, by deadline: Deadline) async throws(LinkFault) {
        do throws(GrantStoreError) {
            try await put(tokens, LinkEnding.key(of: link), by: deadline)
        } catch {
            log.error("Amazon's tokens cannot be stored", .detail("\(error)"))
            throw .store
        }
        do throws(LinkStoreError) { try await store.add(link, by: deadline) } catch {
            log.error("a link cannot be stored", .detail("\(error)"))
            throw .store
        }
    }

    /// Stores fresh tokens of a pending link; false where that fails.
    func renew(_ link: Link, _ tokens: AmazonCredentials, by deadline: Deadline) async -> Bool {
        do throws(GrantStoreError) {
            try await put(tokens, LinkEnding.key(of: link), by: deadline)
            return true
        } catch { return false }
    }

    /// Forgets a pending link that Alexa refused; one that was settled meanwhile stays.
    func drop(_ link: Link, by deadline: Deadline) async {
        do throws(LinkStoreError) {
            if let stored = try await store.link(id: link.id, by: deadline), stored.status == .linked { return }
            try await store.deleteLink(id: link.id, by: deadline)
        } catch { log.error("a link that failed stays pending for now", .detail("\(error)")) }
        _ = try? await store.deleteGrant(LinkEnding.key(of: link), by: deadline)
    }

    /// Writes a link that Alexa confirmed, and ends the earlier one of the same Alexa user.
    ///
    /// Where the store does not answer the link stays pending and is settled later.
    ///
    /// - Throws: ``LinkFault/unlinkedMeanwhile`` where the user removed it in the meantime; Alexa was told then.
    func settle(
        _ link: Link, _ enablement: Enablement, in region: AlexaRegion, grantID: String?, tokens: AmazonCredentials?,
        by deadline: Deadline
    ) async throws(LinkFault) -> Link {
        var linked = link
        for _ in 0..<Self.tries {
            linked.status = .linked
            linked.region = region
            linked.alexaUserID = enablement.alexaUserID ?? linked.alexaUserID
            linked.providerGrantID = grantID ?? linked.providerGrantID
            linked.candidates = []
            linked.linkedAt = clock()
            linked.dueAt = nil
            let settlement: LinkSettlement
            do throws(LinkStoreError) { settlement = try await store.settle(linked, by: deadline) } catch {
                log.error("a link stays pending: the store does not answer", .detail("\(error)"))
                return link
            }
            switch settlement {
            case .settled(let stored, let replaced):
                await move(tokens, of: link, to: stored, by: deadline)
                if let replaced { await ending.replaced(replaced, by: stored, deadline: deadline) }
                return stored
            case .changed(.none):
                // The user removed it while Alexa was linking: that holds, so Alexa's side ends as well.
                if let tokens { _ = await renew(linked, tokens, by: deadline) }
                try await ending.end(linked, tellsAlexa: true, by: deadline)
                throw .unlinkedMeanwhile
            case .changed(.some(let current)):
                if current.status == .linked { return current }
                linked = current
            }
        }
        return link
    }

    /// Tokens go where the Alexa user is part of the key.
    private func move(
        _ tokens: AmazonCredentials?, of link: Link, to settled: Link, by deadline: Deadline
    ) async {
        let (old, new) = (LinkEnding.key(of: link), LinkEnding.key(of: settled))
        guard old != new else { return }
        do throws(GrantStoreError) {
            let stored = tokens == nil ? try await store.grant(old, by: deadline)?.credentials : tokens
            guard let stored else { return }
            try await put(stored, new, by: deadline)
            try await store.deleteGrant(old, by: deadline)
        } catch {
            log.error("Amazon's tokens of a link cannot be stored", .detail("\(error)"))
        }
    }

    private func put(
        _ tokens: AmazonCredentials, _ key: GrantKey, by deadline: Deadline
    ) async throws(GrantStoreError) {
        let sequence = try await store.nextGrantSequence(by: deadline)
        try await store.put(tokens, for: key, sequence: sequence, by: deadline)
    }
}
