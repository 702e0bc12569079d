import Alexa
import Concurrency
import JSON
import Time

/// The devices of the embedded provider while the process runs: what they are like now, and what they do when told.
final class EmbeddedDevices: Sendable {
    /// How many devices one page of the list has.
    static let pageSize = 20

    /// By endpoint id: texts of ASCII alone, which are equal where their bytes are.
    private let devices: [String: Devices.Device]
    private let owned: [String: [Devices.Device]]
    private let states: Locked<[String: Condition]>
    private let clock: WallClock
    private let started: UnixTime

    /// What a device is like, and what it will be like once it is done with what it was told.
    fileprivate struct Condition: Sendable {
        var state: DeviceState
        var coming: (at: UnixTime, state: DeviceState, command: DeviceCommand)?

        mutating func settle(at now: UnixTime) {
            guard let coming, coming.at <= now else { return }
            state = coming.state
            self.coming = nil
        }
    }

    init(_ devices: Devices?, clock: @escaping WallClock) {
        let all = devices?.all ?? []
        self.devices = Dictionary(all.map { (EndpointID.encode($0.id), $0) }) { first, _ in first }
        owned = all.reduce(into: [:]) { owned, device in
            for owner in device.owners { owned[owner, default: []].append(device) }
        }
        states = Locked(self.devices.mapValues { Condition(state: DeviceState(of: $0)) })
        self.clock = clock
        started = clock()
    }

    /// A page of the user's devices; nil where the cursor is none of ours.
    func page(of subject: String, from cursor: String?) -> JSONValue? {
        let all = owned[subject] ?? []
        let start = cursor.flatMap { Int($0) } ?? 0
        guard cursor == nil || (String(start) == cursor && start > 0 && start < all.count) else { return nil }
        let end = min(start + Self.pageSize, all.count)
        var page: JSONObject = ["devices": .array(all[start..<end].map { .object($0.json) })]
        if end < all.count { page["cursor"] = .string(String(end)) }
        return .object(page)
    }

    /// The properties of a device as they are now.
    func state(of id: String, for subject: String) throws(DeviceRefusal) -> [DeviceProperty] {
        let device = try device(id, of: subject)
        guard device.behaviour.isReachable || device.reportsConnectivity else {
            throw DeviceRefusal(.endpointUnreachable, "The device is offline")
        }
        let now = clock()
        return device.properties(
            states.withLock { $0[EndpointID.encode(id), default: Condition(device)].settled(at: now) },
            at: sampled(device, now))
    }

    /// What became of a command.
    enum Outcome: Sendable {
        case done([DeviceProperty], payload: JSONObject?)
        /// It will be so after that time; the properties are nil where it was told so before.
        case deferred(seconds: Int64, [DeviceProperty]?)
    }

    /// Has a device do something.
    func carryOut(
        _ command: DeviceCommand, on id: String, for subject: String
    ) throws(DeviceRefusal) -> Outcome {
        let device = try device(id, of: subject)
        guard device.behaviour.isReachable else { throw DeviceRefusal(.endpointUnreachable, "The device is offline") }
        let capability = try device.capability(for: command)
        guard let rule = CommandTable.rules[command.interface]?[command.name] else {
            throw .malformed("The device has no such command")
        }
        if let percent = device.behaviour.lowBatteryPercent {
            throw DeviceRefusal(.endpointLowPower, "The battery is low", ["percentageState": .integer(percent)])
        }
        if let error = device.behaviour.error { throw error }
        let now = clock()
        return try states.withLock { (states) throws(DeviceRefusal) -> Outcome in
            let key = EndpointID.encode(id)
            var condition = states[key] ?? Condition(device)
            condition.settle(at: now)
            if let coming = condition.coming {
                guard coming.command == command else {
                    throw DeviceRefusal(.endpointBusy, "The device is busy with what it was told before")
                }
                // Told the same again, it goes on with it.
                return .deferred(seconds: max(1, (coming.at.milliseconds - now.milliseconds + 999) / 1000), nil)
            }
            var run = CommandRun(
                device: device, capability: capability, command: command, now: now, state: condition.state)
            // What a device remembers of a refused command stays, such as a wrong code.
            defer { states[key] = condition }
            do throws(DeviceRefusal) { try rule(&run) } catch {
                condition.state.memory = run.state.memory
                throw error
            }
            if let seconds = device.behaviour.deferSeconds {
                let end = now.adding(seconds: seconds)
                condition.coming = (end, run.state, command)
                return .deferred(seconds: seconds, device.properties(run.state, at: end, first: run.touched))
            }
            condition.state = run.state
            return .done(device.properties(run.state, at: now, first: run.touched), payload: run.payload)
        }
    }

    /// A device of the user's; those of others are as if there were none.
    private func device(_ id: String, of subject: String) throws(DeviceRefusal) -> Devices.Device {
        guard let device = devices[EndpointID.encode(id)], device.owners.contains(subject) else {
            throw DeviceRefusal(.noSuchEndpoint, "The user has no such device")
        }
        return device
    }

    /// What is offline was last heard of when the process started.
    private func sampled(_ device: Devices.Device, _ now: UnixTime) -> UnixTime {
        device.behaviour.isReachable ? now : started
    }
}

extension EmbeddedDevices.Condition {
    fileprivate init(_ device: Devices.Device) { self.init(state: DeviceState(of: device)) }

    fileprivate mutating func settled(at now: UnixTime) -> DeviceState {
        settle(at: now)
        return state
    }
}

extension DeviceState {
    /// What a device is like when the process starts.
    init(of device: Devices.Device) {
        self.init(values: Dictionary(device.state.map { ($0.key, $0.value) }) { first, _ in first })
        for key in device.reported where key == Devices.connectivity {
            values[key] = ["value": device.behaviour.isReachable ? "OK" : "UNREACHABLE"]
        }
    }
}

extension Devices.Device {
    /// Whether the device says itself that it is offline.
    var reportsConnectivity: Bool { reported.contains(Devices.connectivity) }

    /// The properties that the device tells of, those of `first` before the others.
    func properties(
        _ state: DeviceState, at now: UnixTime, first: [PropertyKey] = []
    ) -> [DeviceProperty] {
        let keys = first.filter(reported.contains) + reported.filter { !first.contains($0) }
        return keys.compactMap { key in
            state.values[key].map { DeviceProperty(key, $0, sampledAt: now) }
        }
    }

    /// The capability that a command is for.
    func capability(for command: DeviceCommand) throws(DeviceRefusal) -> JSONObject {
        let found = json["capabilities"]?.array?.lazy.compactMap(\.object).first { capability in
            capability["interface"]?.string == command.interface
                && capability.given("instance")?.string == command.instance
        }
        guard let found else { throw .malformed("The device has no such interface") }
        guard found["nonControllable"]?.bool != true else { throw .malformed("The device cannot be told so") }
        return found
    }
}
