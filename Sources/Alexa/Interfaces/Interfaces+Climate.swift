extension AlexaInterface {
    /// Heating and cooling.
    static let climate: [AlexaInterface] = [
        AlexaInterface(
            "ThermostatController",
            [
                DirectiveRule(
                    "SetTargetTemperature",
                    // One of the setpoints must be there; the others may be.
                    .either(
                        ["targetSetpoint", "lowerSetpoint", "upperSetpoint"].map { required in
                            .object(
                                [
                                    setpointMember("targetSetpoint", required),
                                    setpointMember("lowerSetpoint", required),
                                    setpointMember("upperSetpoint", required), .optional("schedule", .anyObject),
                                ], isOpen: true)
                        })),
                .taking("AdjustTargetTemperature", [.required("targetSetpointDelta", .temperature)]),
                .taking(
                    "SetThermostatMode",
                    // The list of modes is open: CUSTOM and EM_HEAT are in use and in no schema.
                    [
                        .required(
                            "thermostatMode", .object([.required("value", .text(1...Int.max))], isOpen: true))
                    ]),
            ] + DirectiveRule.plain("ResumeSchedule"),
            properties: [
                PropertyRule("targetSetpoint", .setpoint), PropertyRule("lowerSetpoint", .setpoint),
                PropertyRule("upperSetpoint", .setpoint), PropertyRule("thermostatMode", .oneOf(thermostatModes)),
            ],
            capability: [
                .optional(
                    "configuration",
                    .object(
                        [
                            .optional("supportsScheduling", .bool),
                            .optional("supportedModes", .list(.oneOf(thermostatModes))),
                        ]))
            ])
    ]

    /// The last two are in use but not in Amazon's schema.
    private static let thermostatModes = ["AUTO", "COOL", "HEAT", "ECO", "OFF", "CUSTOM", "EM_HEAT"]

    private static func setpointMember(_ name: String, _ required: String) -> Shape.Member {
        name == required ? .required(name, .temperature) : .optional(name, .temperature)
    }
}
