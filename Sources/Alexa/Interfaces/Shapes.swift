/// Values that several interfaces share.
extension Shape {
    /// A whole number of percent.
    static let percent = Shape.integer(0...100)
    /// `ON` or `OFF`.
    static let onOff = Shape.oneOf(["ON", "OFF"])
    /// `DETECTED` or `NOT_DETECTED`.
    static let detection = Shape.oneOf(["DETECTED", "NOT_DETECTED"])
    /// An alarm of a security panel.
    static let alarm = Shape.object([.required("value", .oneOf(["ALARM", "OK"]))])
    /// The scales of temperatures.
    static let scale = Shape.oneOf(["CELSIUS", "FAHRENHEIT", "KELVIN"])
    /// A temperature without bounds: that of a sensor, or one in a directive, whose bounds the device knows.
    static let temperature = Shape.object([.required("value", .number()), .required("scale", scale)])
    /// The temperature of a setpoint.
    ///
    /// Amazon's schema bounds it to ±100 in every scale, which no Kelvin fits.
    static let setpoint = Shape.either([
        .object([.required("value", .number(-100...100)), .required("scale", .oneOf(["CELSIUS", "FAHRENHEIT"]))]),
        .object([.required("value", .number(0...1000)), .required("scale", .oneOf(["KELVIN"]))]),
    ])
    /// Height and width of a picture.
    static let resolution = Shape.object([
        .required("width", .integer(1...Int64.max)), .required("height", .integer(1...Int64.max)),
    ])
    /// A whole number of any size.
    static let whole = Shape.integer()

    /// The friendly names of a capability, in the words of users or from Alexa's catalogue.
    static let capabilityResources = Shape.object([
        .required(
            "friendlyNames",
            .list(
                .either([
                    .object([
                        .required("@type", .oneOf(["asset"])),
                        .required("value", .object([.required("assetId", .text(1...Int.max))])),
                    ]),
                    .object([
                        .required("@type", .oneOf(["text"])),
                        .required(
                            "value",
                            .object([
                                .required("text", .text(1...Int.max)), .required("locale", .text(1...Int.max)),
                            ])),
                    ]),
                ]), 1...Int.max))
    ])

    /// What a capability means by the words "open", "close", "raise" and "lower".
    static let semantics = Shape.object([
        .optional(
            "actionMappings",
            .list(
                .object([
                    .required("@type", .oneOf(["ActionsToDirective"])), .required("actions", .list(.text())),
                    .required(
                        "directive", .object([.required("name", .text()), .optional("payload", .anyObject)])),
                ]))),
        .optional(
            "stateMappings",
            .list(
                .either([
                    .object([
                        .required("@type", .oneOf(["StatesToValue"])), .required("states", .list(.text())),
                        .optional("value", .any),
                    ]),
                    .object([
                        .required("@type", .oneOf(["StatesToRange"])), .required("states", .list(.text())),
                        .optional("range", .anyObject),
                    ]),
                ]))),
    ])
}
