import Alexa
import HTTP
import JSON

/// Why a device does not do what it is told: an error type of Alexa's, and what Alexa wants to know besides.
struct DeviceRefusal: Error, Sendable {
    let type: SmartHomeErrorType
    /// For the developer; nobody hears it.
    let message: String
    var details = JSONObject()

    init(_ type: SmartHomeErrorType, _ message: String, _ details: JSONObject = [:]) {
        self.type = type
        self.message = message
        self.details = details
    }

    /// The member `error` of a device's behaviour: `{"type","message"?,…}`.
    init(decoding value: JSONValue) throws(DeviceFault) {
        guard let type = value["type"]?.string.flatMap(SmartHomeErrorType.init(rawValue:)) else {
            throw DeviceFault(path: "type", problem: "not an error type of Alexa's")
        }
        self.type = type
        message = value["message"]?.string ?? "The device is set to fail so"
        for (name, value) in value.object ?? [:] where name != "type" && name != "message" { details[name] = value }
        if let fault = type.fault(in: details) { throw DeviceFault(path: fault.path, problem: fault.description) }
    }

    /// A number that is out of the range.
    static func outOfRange(_ name: String, _ range: ClosedRange<Double>) -> DeviceRefusal {
        DeviceRefusal(
            .valueOutOfRange, "\(name) is out of range",
            [
                "validRange": [
                    "minimumValue": JSONValue(plain: range.lowerBound),
                    "maximumValue": JSONValue(plain: range.upperBound),
                ]
            ])
    }

    /// A command that is not what it should be.
    static func malformed(_ message: String) -> DeviceRefusal { DeviceRefusal(.invalidDirective, message) }

    /// The answer of the resource server.
    var response: HTTPResponse {
        var object: JSONObject = ["error": .string(type.rawValue), "message": .string(message)]
        for (name, value) in details { object[name] = value }
        return HTTPResponse(json: .object(object), status: status)
    }

    /// What fits best (RFC 9110 §15.5); callers go by the type.
    private var status: Int {
        switch type {
        case .invalidDirective: 400
        case .noSuchEndpoint: 404
        case .invalidValue, .valueOutOfRange, .temperatureValueOutOfRange, .requestedSetpointsTooClose: 422
        case .rateLimitExceeded, .tooManyFailedAttempts: 429
        default: 409
        }
    }
}

extension JSONValue {
    /// A number, written without fraction where it has none.
    init(plain number: Double) {
        self = Int64(exactly: number).map(JSONValue.integer) ?? .number(number)
    }
}
