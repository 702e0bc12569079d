import Alexa
import Crypto
import JSON
import OAuth
import Telemetry
import Time

/// Answers directives by asking the provider's server of devices: state, commands, and the list of them all.
struct DeviceAnswers: Sendable {
    let client: DeviceClient
    let endpointIDs: any EndpointIDStore
    let reporting: (any DeviceReporting)?
    let kept = KeptDiscoveries()
    let endpointLimit: Int
    let answerLimitBytes: Int
    let clock: WallClock
    let now: @Sendable () -> ContinuousClock.Instant
    let log: Log

    /// What Alexa is told where the device does as it is asked.
    func answer(_ checked: CheckedDirective, _ call: DirectiveCall) async throws(SmartHomeFailure) -> Event {
        let deviceID: String
        switch EndpointID.decode(checked.endpointID) {
        case .device(let id): deviceID = id
        case .digest(let digest): deviceID = try await keptDeviceID(digest, by: call.deadline)
        }
        return checked.rule.answer == .stateReport
            ? try await report(call, of: deviceID) : try await command(checked, call, to: deviceID)
    }

    // MARK: - State and commands

    private func report(_ call: DirectiveCall, of deviceID: String) async throws(SmartHomeFailure) -> Event {
        let begin = now()
        let elements: [JSONElement]
        do throws(ResourceFailure) {
            elements = try await client.state(of: deviceID, for: call.principal, by: call.deadline)
        } catch { throw failure(error, "state", from: begin, call) }
        call.trace.step("state", .ok, from: begin, to: now())
        let properties = ReportedProperties(elements, now: clock())
        tell(properties.omissions, "property left out", call.trace)
        return .answer(.stateReport, to: call.echo, properties: properties.context, now: clock())
    }

    private func command(
        _ checked: CheckedDirective, _ call: DirectiveCall, to deviceID: String
    ) async throws(SmartHomeFailure) -> Event {
        let begin = now()
        let header = checked.directive.header
        let command = DeviceClient.Command(
            interface: checked.interface.name, name: header.name, instance: checked.instance,
            arguments: checked.directive.payload, messageID: header.messageID,
            correlationToken: header.correlationToken)
        let outcome: DeviceClient.Outcome
        do throws(ResourceFailure) {
            outcome = try await client.command(command, to: deviceID, for: call.principal, by: call.deadline)
        } catch { throw failure(error, "command", from: begin, call) }
        call.trace.step("command", .ok, from: begin, to: now())
        switch outcome {
        case .deferred(let seconds): return .deferredResponse(to: call.echo, seconds: seconds)
        case .done(let elements, let payload):
            let properties = ReportedProperties(elements, now: clock())
            tell(properties.omissions, "property left out", call.trace)
            reporting?.commanded(
                subject: call.principal.subject, deviceID: deviceID, interface: checked.interface.name,
                instance: checked.instance, properties: properties.properties)
            return .answer(
                checked.rule.answer, to: call.echo, properties: properties.context,
                payload: payload?.value.object ?? [:], now: clock())
        }
    }

    /// The device whose long id was kept by its digest.
    private func keptDeviceID(_ digest: String, by deadline: Deadline) async throws(SmartHomeFailure) -> String {
        let kept: String?
        do throws(OutboxError) { kept = try await endpointIDs.deviceID(digest: digest, by: deadline) } catch {
            throw .store
        }
        guard let kept else { throw .endpointUnknown }
        return kept
    }

    // MARK: - For all of them

    /// So much of a token in a message counts as the token: the message may have been cut within it.
    private static let tellingCharacters = 8

    func failure(
        _ failure: ResourceFailure, _ step: StaticString, from begin: ContinuousClock.Instant, _ call: DirectiveCall
    ) -> SmartHomeFailure {
        call.trace.step(step, .failed, reason: failure.reasonCode, from: begin, to: now())
        let isTokenExpired = call.principal.expiresAt.map { $0 <= clock() } ?? false
        guard case .declared(var error) = failure, let message = error.message,
            message.contains(call.principal.token.exposed.prefix(Self.tellingCharacters))
        else { return .resource(failure, isTokenExpired: isTokenExpired) }
        // A server that repeats what it was sent would carry the user's token into answers and traces.
        error.message = nil
        return .resource(.declared(error), isTokenExpired: isTokenExpired)
    }

    /// One line for each of the first that were left out, and one for the others together.
    func tell(_ omissions: Omissions, _ event: StaticString, _ trace: Trace) {
        for (name, problem) in omissions.told {
            log.notice(event, .traceID(trace.id), .device(name), .detail(problem))
        }
        if omissions.untold > 0 { log.notice(event, .traceID(trace.id), .count(omissions.untold)) }
    }
}

/// The properties of a device that may leave; the others are left out, so that one bad property costs no answer.
struct ReportedProperties {
    /// How many an answer may hold.
    private static let limit = 1000

    private(set) var properties: [DeviceProperty] = []
    /// The same in Alexa's form.
    private(set) var context: [JSONValue] = []
    /// What was left out, and why.
    private(set) var omissions = Omissions()

    init(_ elements: [JSONElement], now: UnixTime) {
        var seen: Set<PropertyKey> = []
        for element in elements {
            let name = (element.string("interface") ?? "?") + "." + (element.string("name") ?? "?")
            let property: DeviceProperty
            do throws(DeviceFault) { property = try DeviceProperty(decoding: element.value) } catch {
                omissions.add(error.path + ": " + error.problem, name: name)
                continue
            }
            let value = property.contextProperty(now: now)
            if let fault = ContextProperty.violation(of: value) {
                omissions.add(fault.description, name: name)
            } else if !seen.insert(property.key).inserted {
                omissions.add("given twice", name: name)
            } else if properties.count == Self.limit {
                omissions.add("one too many", name: name)
            } else {
                properties.append(property)
                context.append(value)
            }
        }
    }
}
