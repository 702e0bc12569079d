extension AlexaInterface {
    /// What every skill has to do with: discovery, grants, state, health, power, sensors, scenes.
    static let core: [AlexaInterface] = [
        AlexaInterface("", [DirectiveRule("ReportState", .anyObject, answer: .stateReport)]),
        AlexaInterface("Discovery", [DirectiveRule("Discover", nil, answer: .discoverResponse)]),
        AlexaInterface("Authorization", [DirectiveRule("AcceptGrant", nil, answer: .acceptGrantResponse)]),
        AlexaInterface(
            "EndpointHealth",
            properties: [
                PropertyRule(
                    "connectivity",
                    .object([.required("value", .oneOf(["OK", "UNREACHABLE"]))], isOpen: true))
            ]),
        AlexaInterface(
            "PowerController", DirectiveRule.plain("TurnOn", "TurnOff"),
            properties: [PropertyRule("powerState", .onOff)]),
        AlexaInterface(
            "ToggleController", needsInstance: true, DirectiveRule.plain("TurnOn", "TurnOff"),
            properties: [PropertyRule("toggleState", .onOff)],
            capability: [.required("capabilityResources", .capabilityResources)]),
        AlexaInterface(
            "SceneController",
            [
                DirectiveRule("Activate", .anyObject, answer: .activationStarted),
                DirectiveRule("Deactivate", .anyObject, answer: .deactivationStarted),
            ], capability: [.optional("supportsDeactivation", .bool)]),
        AlexaInterface("TemperatureSensor", properties: [PropertyRule("temperature", .temperature)]),
        AlexaInterface("ContactSensor", properties: [PropertyRule("detectionState", .detection)]),
        AlexaInterface("MotionSensor", properties: [PropertyRule("detectionState", .detection)]),
        AlexaInterface(
            "InventoryLevelSensor", needsInstance: true, properties: [PropertyRule("level", inventoryLevel)],
            capability: [
                .required("capabilityResources", .capabilityResources),
                .required(
                    "configuration",
                    .object(
                        [
                            .required("measurement", inventoryMeasure),
                            .required(
                                "replenishment",
                                .object(
                                    [
                                        .optional("@type", .oneOf(["DashReplenishmentId"])),
                                        .optional("value", .text()),
                                    ], isOpen: true)),
                        ], isOpen: true)),
            ]),
        AlexaInterface(
            "WakeOnLANController",
            capability: [
                .optional("configuration", .object([.required("MACAddresses", .list(.text()))], isOpen: true))
            ]),
        AlexaInterface("CustomIntent"),
    ]

    /// In what a level is measured.
    private static let inventoryMeasure = Shape.either([
        .object([.required("@type", .oneOf(["Percentage", "Count"]))]),
        .object([.required("@type", .oneOf(["Weight"])), .required("unit", .oneOf(weightUnits))]),
        .object([.required("@type", .oneOf(["Volume"])), .required("unit", .oneOf(volumeUnits))]),
    ])

    private static let inventoryLevel = Shape.either([
        .object([.required("@type", .oneOf(["Percentage"])), .required("value", .number(0...100))]),
        .object([.required("@type", .oneOf(["Count"])), .required("value", .integer(0...Int64.max))]),
        .object([
            .required("@type", .oneOf(["Weight"])), .required("value", .number(0...Double.greatestFiniteMagnitude)),
            .required("unit", .oneOf(weightUnits)),
        ]),
        .object([
            .required("@type", .oneOf(["Volume"])), .required("value", .number(0...Double.greatestFiniteMagnitude)),
            .required("unit", .oneOf(volumeUnits)),
        ]),
    ])

    private static let weightUnits = [
        "KILOGRAM", "GRAM", "MILLIGRAM", "MICROGRAM", "METRIC_POUND", "POUND", "OUNCE", "DRAM",
    ]

    private static let volumeUnits = [
        "LITER", "MILLILITER", "METRIC_CUP", "METRIC_TEASPOON", "UK_TABLESPOON", "AU_TABLESPOON", "CUBIC_CENTIMETER",
        "CUBIC_METER", "UK_GALLON", "UK_QUART", "UK_PINT", "UK_CUP", "UK_GILL", "UK_FLUID_OUNCE", "UK_FLUID_DRAM",
        "CUBIC_INCH", "CUBIC_FOOT", "CUBIC_YARD", "US_FLUID_GALLON", "US_FLUID_QUART", "US_FLUID_PINT",
        "US_FLUID_CUP", "US_FLUID_OUNCE", "US_GILL", "US_TABLESPOON", "US_TEASPOON", "US_DRAM", "US_DRY_GALLON",
        "US_DRY_QUART", "US_DRY_PINT",
    ]
}
