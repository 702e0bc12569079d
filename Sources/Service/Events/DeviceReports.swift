import Alexa
import Concurrency
import JSON
import Telemetry
import Time

/// What directives bring to light, on its way into the outbox: after a discovery which properties a device reports, after
/// a command what changed by voice.
///
/// A bounded list that one task empties, so that no answer waits for it. What finds the list full is dropped: the next
/// discovery says the same again, and a voice-made change is known to Alexa by the answer.
final class DeviceReports: DeviceReporting {
    private static let limit = 1000
    private static let storeTime = Duration.seconds(5)

    private enum Report: Sendable {
        case discovered(subject: String, devices: [NotedDevice])
        case commanded(Command)
    }

    /// What a command left behind, and at which controller of the device.
    private struct Command: Sendable {
        let subject: String
        let deviceID: String
        let interface: String
        let instance: String?
        let properties: [DeviceProperty]

        func controls(_ key: PropertyKey) -> Bool { key.interface == interface && key.instance == instance }
    }

    private let outbox: any Outbox
    private let now: @Sendable () -> ContinuousClock.Instant
    private let clock: WallClock
    private let log: Log
    private let metrics: Metrics
    private let posted: @Sendable () -> Void
    private let reports: AsyncStream<Report>
    private let continuation: AsyncStream<Report>.Continuation

    init(
        outbox: any Outbox, clock: @escaping WallClock, now: @escaping @Sendable () -> ContinuousClock.Instant,
        log: Log, metrics: Metrics, posted: @escaping @Sendable () -> Void
    ) {
        self.outbox = outbox
        self.clock = clock
        self.now = now
        self.log = log
        self.metrics = metrics
        self.posted = posted
        (reports, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.limit))
    }

    func discovered(subject: String, devices: [DeviceEndpoint]) {
        let noted = devices.map { device in
            NotedDevice(deviceID: device.deviceID, reported: device.reportedProperties)
        }
        add(.discovered(subject: subject, devices: noted))
    }

    func commanded(
        subject: String, deviceID: String, interface: String, instance: String?, properties: [DeviceProperty]
    ) {
        guard !properties.isEmpty else { return }
        add(
            .commanded(
                Command(
                    subject: subject, deviceID: deviceID, interface: interface, instance: instance,
                    properties: properties)))
    }

    private func add(_ report: Report) {
        if case .dropped = continuation.yield(report) {
            metrics.counter(.eventsDropped, "events.reportsFull").add()
        }
    }

    /// Handles reports until ``finish()`` is called or the task is cancelled.
    func run() async {
        for await report in reports { await handle(report) }
    }

    /// Lets ``run()`` end after what is in the list.
    func finish() { continuation.finish() }

    private func handle(_ report: Report) async {
        let deadline = Deadline.after(Self.storeTime, from: now())
        do throws(OutboxError) {
            switch report {
            case .discovered(let subject, let devices):
                try await outbox.noteDevices(subject: subject, devices, by: deadline)
            case .commanded(let command): try await post(command, by: deadline)
            }
        } catch {
            metrics.counter(.eventsDropped, "events.store").add()
            log.notice("what a directive brought to light was not stored", .rejection("events.store"))
        }
    }

    /// Only what the device is known to report goes to Alexa, and only a user with a grant has anything known.
    ///
    /// The answer to a command holds the whole state. What differs from the last known value has changed; what was never
    /// known counts as changed where the command was to its controller.
    private func post(_ command: Command, by deadline: Deadline) async throws(OutboxError) {
        let (subject, deviceID) = (command.subject, command.deviceID)
        guard let known = try await outbox.knownState(subject: subject, deviceID: deviceID, by: deadline) else {
            return
        }
        let former = Dictionary(
            known.properties.compactMap { property in PropertyKey(of: property).map { ($0, property["value"]) } }
        ) { first, _ in first }
        let moment = clock()
        var keys: Set<PropertyKey> = []
        let all = command.properties.compactMap { given -> DeviceProperty? in
            let property = DeviceProperty(
                given.key, given.value, sampledAt: given.sampledAt ?? moment,
                uncertaintyMilliseconds: given.uncertaintyMilliseconds)
            let isSound = ContextProperty.violation(of: property.contextProperty(now: moment)) == nil
            return isSound && keys.insert(property.key).inserted ? property : nil
        }
        let changed = all.filter { property in
            let key = property.key
            guard known.reported.contains(key) else { return false }
            guard let value = former[key] else { return command.controls(property.key) }
            return value != property.value
        }
        guard !changed.isEmpty else { return }
        let event = PostedEvent(
            subject: subject, deviceID: deviceID, kind: .changed,
            body: [
                "cause": .string(EventCause.voiceInteraction.rawValue),
                "properties": .array(changed.map(\.json)), "state": .array(all.map(\.json)),
            ])
        if try await outbox.post([event], by: deadline).rows > 0 { posted() }
    }
}
