extension AlexaInterface {
    /// Lights.
    static let lights: [AlexaInterface] = [
        AlexaInterface(
            "BrightnessController",
            [
                .taking("SetBrightness", [.required("brightness", .percent)]),
                .taking("AdjustBrightness", [.required("brightnessDelta", .whole)]),
            ], properties: [PropertyRule("brightness", .percent)]),
        AlexaInterface(
            "ColorController", [.taking("SetColor", [.required("color", color)])],
            properties: [PropertyRule("color", color)]),
        AlexaInterface(
            "ColorTemperatureController",
            [.taking("SetColorTemperature", [.required("colorTemperatureInKelvin", .integer(1000...10_000))])]
                + DirectiveRule.plain("IncreaseColorTemperature", "DecreaseColorTemperature"),
            properties: [PropertyRule("colorTemperatureInKelvin", .integer(1000...10_000))]),
    ]

    /// What has a level or a mode of any kind.
    static let levels: [AlexaInterface] = [
        AlexaInterface(
            "PercentageController",
            [
                .taking("SetPercentage", [.required("percentage", .percent)]),
                .taking("AdjustPercentage", [.required("percentageDelta", .whole)]),
            ], properties: [PropertyRule("percentage", .percent)]),
        AlexaInterface(
            "PowerLevelController",
            [
                .taking("SetPowerLevel", [.required("powerLevel", .percent)]),
                .taking("AdjustPowerLevel", [.required("powerLevelDelta", .whole)]),
            ], properties: [PropertyRule("powerLevel", .percent)]),
        AlexaInterface(
            "RangeController", needsInstance: true,
            [
                .taking("SetRangeValue", [.required("rangeValue", .number())]),
                .taking(
                    "AdjustRangeValue",
                    [.required("rangeValueDelta", .number()), .optional("rangeValueDeltaDefault", .bool)]),
            ], properties: [PropertyRule("rangeValue", .number())],
            capability: [
                .required("capabilityResources", .capabilityResources),
                .required(
                    "configuration",
                    .object([
                        .required(
                            "supportedRange",
                            .object([
                                .required("minimumValue", .number()), .required("maximumValue", .number()),
                                .required("precision", .number()),
                            ])),
                        .optional("unitOfMeasure", .text()),
                        .optional(
                            "presets",
                            .list(
                                .object([
                                    .required("rangeValue", .number()),
                                    .required("presetResources", .capabilityResources),
                                ]))),
                    ])),
            ]),
        AlexaInterface(
            "ModeController", needsInstance: true,
            [
                .taking("SetMode", [.required("mode", .text(1...Int.max))]),
                .taking("AdjustMode", [.required("modeDelta", .whole), .optional("modeDeltaDefault", .bool)]),
            ], properties: [PropertyRule("mode", .text())],
            capability: [
                .required("capabilityResources", .capabilityResources),
                .required(
                    "configuration",
                    .object(
                        [
                            .required("ordered", .bool),
                            .required(
                                "supportedModes",
                                .list(
                                    .object(
                                        [
                                            .required("value", .text(1...Int.max)),
                                            .required("modeResources", .capabilityResources),
                                        ], isOpen: true), 1...Int.max)),
                        ])),
            ]),
    ]

    private static let color = Shape.object([
        .required("hue", .number(0...360)), .required("saturation", .number(0...1)),
        .required("brightness", .number(0...1)),
    ])
}
