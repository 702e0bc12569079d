import Alexa
import JSON
import Telemetry
import Time

extension EventWorker {
    /// Sends the heads of a lane while its lease lasts, and gives the lane back.
    func work(on lane: LeasedLane, counts: FlushCounts?) async {
        let held = HeldLane(lane.lease)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.keep(held) }
            group.addTask { await self.send(lane.rows, held, counts) }
            // The sending ends first, or the lease is lost and the sending with it.
            _ = await group.next()
            group.cancelAll()
        }
        if let lease = held.lease { try? await outbox.releaseLane(lease, by: deadline) }
        laneIsDone()
    }

    /// Extends the lease again and again; ends where it is lost.
    private func keep(_ held: HeldLane) async {
        while let lease = held.lease {
            do { try await Task.sleep(for: beat) } catch { return }
            do throws(OutboxError) {
                held.lease = try await outbox.extendLane(lease, for: Self.lease, by: deadline)
            } catch {
                // The store may answer next time; the lease ends by itself where it does not.
                continue
            }
        }
    }

    private func send(_ rows: [OutboxRow], _ held: HeldLane, _ counts: FlushCounts?) async {
        var failuresInARow = 0
        for row in rows {
            guard !isStopping, !Task.isCancelled, let lease = held.lease else { return }
            let verdict = await verdict(on: row, lease.key)
            counts?.count(verdict)
            do throws(OutboxError) {
                let goesOn = try await settle(row, verdict, held, &failuresInARow)
                guard goesOn else { return }
            } catch {
                quiet.line(.error, "the outbox does not answer", of: lease.key, "events.store")
                return
            }
        }
    }

    private func verdict(on row: OutboxRow, _ key: GrantKey) async -> SendVerdict {
        do throws(DeviceFault) {
            let message = try EventMessage(row)
            var known: KnownState?
            if row.kind == .changed {
                do throws(OutboxError) {
                    known = try await outbox.knownState(subject: key.subject, deviceID: row.deviceID, by: deadline)
                } catch {
                    return .postponed(reason: "events.store", retryAfter: nil, endsLane: true)
                }
            }
            var event = message.event(known: known)
            if event.violation() != nil { event = message.event(known: nil) }
            guard let violation = event.violation() else {
                return await sending.send(event, for: key, attempts: row.attempts)
            }
            quiet.line(.error, "an event breaks Alexa's rules", of: key, "events.schema", detail: violation.detail)
        } catch {
            quiet.line(.error, "an event breaks Alexa's rules", of: key, "events.schema", detail: error.path)
        }
        return .dropped(reason: "events.schema")
    }

    /// Does what the verdict says; returns whether the lane goes on.
    private func settle(
        _ row: OutboxRow, _ verdict: SendVerdict, _ held: HeldLane, _ failuresInARow: inout Int
    ) async throws(OutboxError) -> Bool {
        guard let lease = held.lease else { return false }
        switch verdict {
        case .sent(let region):
            metrics.counter(.eventsSent, region.rawValue).add()
            failuresInARow = 0
            try await outbox.finish(row, lease, by: deadline)
            return true
        case .dropped(let reason):
            metrics.counter(.eventsDropped, reason).add()
            quiet.line(.error, "an event was given up", of: lease.key, reason, attempts: row.attempts + 1)
            failuresInARow = 0
            try await outbox.finish(row, lease, by: deadline)
            return true
        case .postponed(let reason, let retryAfter, let endsLane):
            metrics.counter(.eventsPostponed, reason).add()
            quiet.line(
                reason == EventGatewayError.insufficientPermission.reasonCode ? .error : .notice,
                "an event waits for another try", of: lease.key, reason, attempts: row.attempts + 1)
            let moment = self.moment(after: row.attempts, retryAfter)
            try await outbox.postpone(row, until: moment, lease, by: deadline)
            failuresInARow += 1
            // One message may be the cause of its own failure, two after one another are not.
            guard endsLane || failuresInARow > 1 else { return true }
            if try await outbox.postponeLane(until: moment, lease, by: deadline) { held.lease = nil }
            return false
        case .suspended(let reason):
            quiet.line(.notice, "no more events until the skill is enabled again", of: lease.key, reason)
            return false
        case .ended(let reason):
            quiet.line(.notice, "a grant ended: the gateway takes its tokens no more", of: lease.key, reason)
            return false
        case .grantGone:
            try await outbox.clearLane(lease.key, by: deadline)
            return false
        case .stopped: return false
        }
    }

    private func moment(after attempts: Int, _ retryAfter: RetryAfter?) -> UnixTime {
        let now = clock()
        let next = now.adding(milliseconds: Backoff.milliseconds(attempts: attempts, jitter: jitter()))
        return max(next, retryAfter?.moment(from: now) ?? next)
    }
}
