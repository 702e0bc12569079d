import Alexa
import Time

extension LinkService {
    /// Ends those of a user's links that are chosen; false where one of them could not be ended.
    func end(
        ofSubject subject: String, by deadline: Deadline, _ isChosen: (Link) -> Bool
    ) async -> Bool {
        let links: [Link]
        do throws(LinkStoreError) { links = try await store.links(of: subject, by: deadline) } catch { return false }
        var areAllEnded = true
        for link in links where isChosen(link) {
            do throws(LinkFault) {
                try await ending.end(link, tellsAlexa: true, by: deadline)
            } catch {
                // The others are ended all the same: each that goes is one less.
                areAllEnded = false
            }
        }
        return areAllEnded
    }

    /// Whether tokens of Amazon's are kept for a user who has no link.
    func hasLeftovers(of subject: String, by deadline: Deadline) async -> Bool {
        let grants = (try? await grants.grants(of: subject, by: deadline)) ?? []
        return grants.contains { $0.key.source == .linking }
    }

    /// Deletes Amazon's tokens that belong to no link any more; false where that fails.
    func deleteLeftovers(of subject: String, by deadline: Deadline) async -> Bool {
        do {
            let kept = try await store.links(of: subject, by: deadline).map { LinkEnding.key(of: $0) }
            for grant in try await grants.grants(of: subject, by: deadline)
            where grant.key.source == .linking && !kept.contains(grant.key) {
                try await grants.deleteGrant(grant.key, by: deadline)
            }
            return true
        } catch { return false }
    }
}
