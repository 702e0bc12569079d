import Alexa
import JSON
import Telemetry
import Time

/// Posts what the embedded provider's slow devices say once they are done, as any provider would by `/v1/events`.
///
/// What is under way when the process ends is not answered: the device's state ends with the process too.
struct DeferredAnswers: Sendable {
    private static let storeTime = Duration.seconds(5)

    let outbox: any Outbox
    let now: @Sendable () -> ContinuousClock.Instant
    let log: Log
    /// Wakes whoever sends what was posted.
    let posted: @Sendable () -> Void

    /// Posts `event` after so many seconds; a device has one command at a time, so there are no more than devices.
    func post(_ event: PostedEvent, afterSeconds seconds: Int64) {
        Task {
            do { try await Task.sleep(for: .seconds(seconds)) } catch { return }
            do throws(OutboxError) {
                let outcome = try await outbox.post([event], by: .after(Self.storeTime, from: now()))
                if outcome.rows > 0 { posted() }
            } catch {
                log.error("the answer of a slow device is not stored", .rejection("events.store"))
            }
        }
    }
}

extension PostedEvent {
    /// What a device says once it is done with a command that it put off.
    init(
        answerTo correlationToken: String, subject: String, deviceID: String, properties: [DeviceProperty]
    ) {
        self.init(
            subject: subject, deviceID: deviceID, kind: .deferred,
            body: ["correlationToken": .string(correlationToken), "properties": .array(properties.map(\.json))])
    }
}
