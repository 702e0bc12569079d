import JSON
import Telemetry
import Time

extension TraceRecord {
    /// The trace as JSON, in a form that ``init(stored:)`` of this and later versions reads.
    var stored: [UInt8] {
        var object: JSONObject = [
            "id": .string(id), "kind": .string(kind.rawValue), "startedAt": .integer(startedAt.milliseconds),
            "microseconds": .integer(duration.microseconds), "outcome": .string(outcome.rawValue),
            "droppedSteps": .integer(Int64(droppedSteps)),
        ]
        object["reason"] = reason.map(JSONValue.string)
        object["subject"] = subject.map(JSONValue.string)
        object["steps"] = .array(steps.map(\.json))
        object["notes"] = .array(notes.map { ["name": .string($0.name), "value": .string($0.value)] })
        return JSONValue.object(object).encoded()
    }

    /// Reads what ``stored`` wrote; nil where it is anything else.
    init?(stored bytes: [UInt8]) {
        guard let json = try? JSONValue(parsing: bytes), let id = json["id"]?.string,
            let kind = json["kind"]?.string.flatMap(Trace.Kind.init(rawValue:)),
            let startedAt = json["startedAt"]?.integer, let duration = Duration(stored: json),
            let outcome = json["outcome"]?.string.flatMap(TraceOutcome.init(rawValue:))
        else { return nil }
        self.init(
            id: id, kind: kind, startedAt: UnixTime(milliseconds: startedAt), duration: duration,
            outcome: outcome, reason: json["reason"]?.string, subject: json["subject"]?.string,
            steps: (json["steps"]?.array ?? []).compactMap(Step.init(json:)),
            droppedSteps: Int(json["droppedSteps"]?.integer ?? 0),
            notes: (json["notes"]?.array ?? []).compactMap { note in
                guard let name = note["name"]?.string, let value = note["value"]?.string else { return nil }
                return Note(name: name, value: value)
            })
    }
}

extension TraceRecord.Step {
    fileprivate var json: JSONValue {
        var object: JSONObject = [
            "name": .string(name), "outcome": .string(outcome.rawValue),
            "startMicroseconds": .integer(start.microseconds),
            "microseconds": .integer(duration.microseconds),
        ]
        object["reason"] = reason.map(JSONValue.string)
        return .object(object)
    }

    fileprivate init?(json: JSONValue) {
        guard let name = json["name"]?.string,
            let outcome = json["outcome"]?.string.flatMap(TraceOutcome.init(rawValue:)),
            let start = Duration(stored: json, "startMicroseconds", milliseconds: "start"),
            let duration = Duration(stored: json)
        else { return nil }
        self.init(
            name: name, outcome: outcome, reason: json["reason"]?.string, start: start,
            duration: duration)
    }
}

extension Duration {
    /// How long it took, or what the member says: in microseconds, or in the milliseconds of earlier versions.
    fileprivate init?(
        stored json: JSONValue, _ name: String = "microseconds", milliseconds older: String = "milliseconds"
    ) {
        if let microseconds = json[name]?.integer {
            self = .microseconds(microseconds)
        } else if let milliseconds = json[older]?.integer {
            self = .milliseconds(milliseconds)
        } else {
            return nil
        }
    }
}
