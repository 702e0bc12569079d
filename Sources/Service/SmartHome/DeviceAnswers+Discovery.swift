import Alexa
import JSON
import OAuth
import Telemetry
import Time

extension DeviceAnswers {
    /// How long gathering the devices may take, from the arrival of the directive.
    static let discoveryTimeLimit = Duration.milliseconds(6500)
    /// After how many devices other requests on the same thread have their turn.
    private static let devicesAtAStretch = 16

    /// The user's endpoints; where the provider's server is too slow, those of the last whole list.
    func discover(_ call: DirectiveCall) async throws(SmartHomeFailure) -> Event {
        let deadline = call.deadline.limited(to: Self.discoveryTimeLimit, from: call.start)
        let key = KeptDiscoveries.Key(skill: call.skill.name, subject: call.principal.subject)
        let begin = now()
        var pages = PageTimes()
        var list = DiscoveryList(limit: endpointLimit, limitBytes: answerLimitBytes)
        do throws(ResourceFailure) {
            try await gather(&list, &pages, for: call.principal, by: deadline)
        } catch {
            let failure = failure(error, "devices", from: begin, call)
            guard error == .timedOut || now() >= deadline.instant else { throw failure }
            log.error(
                "discovery deadline", .traceID(call.trace.id), .count(pages.count), .detail(pages.text))
            guard let endpoints = kept.endpoints(for: key) else { throw failure }
            call.trace.note("devices", "the last whole list, since the server is slow")
            return .discoverResponse(endpoints: endpoints)
        }
        call.trace.step("devices", .ok, from: begin, to: now())
        await keepIDs(&list, by: deadline)
        tell(list.omissions, "device left out", call.trace)
        if list.isOverfull { log.notice("discovery limit", .traceID(call.trace.id), .limit(endpointLimit)) }
        let endpoints = list.devices.map { JSONValue.object($0.object) }
        kept.keep(list.encoded, for: key)
        reporting?.discovered(subject: call.principal.subject, devices: list.devices)
        return .discoverResponse(endpoints: endpoints)
    }

    /// Page after page, until the last one, or more devices than Alexa takes.
    private func gather(
        _ list: inout DiscoveryList, _ pages: inout PageTimes, for principal: Principal, by deadline: Deadline
    ) async throws(ResourceFailure) {
        var cursor: String?
        var known: Set<String> = []
        while true {
            let begin = now()
            defer { pages.add(begin.duration(to: now())) }
            let page = try await client.page(from: cursor, for: principal, by: deadline)
            for (place, device) in page.devices.enumerated() {
                // Many devices are more work than a loop's thread may do at a stretch.
                if place.isMultiple(of: Self.devicesAtAStretch) { await Task.yield() }
                list.add(device)
            }
            guard let next = page.next, !list.isOverfull else { return }
            guard known.insert(next).inserted, known.count < DeviceClient.pageLimit else {
                return log.notice("the pages of devices have no end", .count(known.count))
            }
            cursor = next
        }
    }

    /// Keeps the ids that cannot be had back from their endpoints' ids; what cannot be kept is left out.
    private func keepIDs(_ list: inout DiscoveryList, by deadline: Deadline) async {
        for device in list.devices {
            guard let digest = device.keptDigest else { continue }
            do {
                try await endpointIDs.keep(digest: digest, deviceID: device.deviceID, by: deadline)
            } catch {
                list.remove(device, because: "its long id cannot be kept")
            }
        }
    }
}

/// How long each page took, for the log.
struct PageTimes {
    private var milliseconds: [Int64] = []

    var count: Int { milliseconds.count }
    var text: String { milliseconds.map(String.init).joined(separator: " ") + " ms" }

    mutating func add(_ duration: Duration) {
        milliseconds.append(
            duration.components.seconds * 1000 + duration.components.attoseconds / 1_000_000_000_000_000)
    }
}
