extension AlexaInterface {
    /// Kitchen appliances: Amazon's documentation of the directives is not confirmed, that of the properties is.
    static let cooking: [AlexaInterface] = [
        AlexaInterface(
            "TimeHoldController", DirectiveRule.unconfirmed("Hold", "Resume"),
            properties: [
                PropertyRule("holdStartTime", .instant(fraction: false)),
                PropertyRule("holdEndTime", .instant(fraction: false)),
            ]),
        AlexaInterface(
            "Cooking", DirectiveRule.unconfirmed("SetCookingMode"),
            properties: [
                PropertyRule(
                    "cookingMode",
                    .either([
                        .object([
                            .required("value", .oneOf(cookingModes)), .optional("customName", .text(1...Int.max)),
                        ]), .oneOf(cookingModes),
                    ])),
                PropertyRule(
                    "foodItem",
                    .object(
                        [
                            .required("foodName", .text()), .optional("foodCategory", .oneOf(foodCategories)),
                            .optional("foodState", .oneOf(foodStates)), .optional("foodQuantity", .anyObject),
                        ], isOpen: true)),
                PropertyRule(
                    "cookingTimeInterval",
                    .object([.optional("start", .text()), .optional("end", .text()), .optional("duration", .text())])),
            ]),
        AlexaInterface(
            "Cooking.TimeController", DirectiveRule.unconfirmed("CookByTime", "AdjustCookTime"),
            properties: [
                PropertyRule("requestedCookTime", .text()), PropertyRule("cookingPowerLevel", cookingPowerLevel),
            ]),
        AlexaInterface(
            "Cooking.PresetController", DirectiveRule.unconfirmed("CookByPreset"),
            properties: [
                PropertyRule("presetName", .text()),
                PropertyRule(
                    "requestedFoodDoneness",
                    .either([.object([.required("value", .oneOf(doneness))]), .oneOf(doneness)])),
            ]),
    ]

    private static let cookingPowerLevel = Shape.either([
        .object([
            .required("@type", .oneOf(["EnumeratedPowerLevel"])),
            .required("value", .oneOf(["LOW", "MEDIUM", "HIGH"])),
        ]), .object([.required("@type", .oneOf(["IntegralPowerLevel"])), .required("value", .number())]),
    ])
    private static let cookingModes = [
        "AIR_FRY", "BAKE", "BLANCH", "BREW", "BOIL", "BROIL", "BROWN", "CAN", "CONVECTION_BAKE", "CONVECTION_BROIL",
        "CONVECTION_ROAST", "CONVECTION_STEAM", "CURE", "CUSTOM", "DEFROST", "DEHYDRATE", "FERMENT", "FRY", "GRILL",
        "INCUBATE", "MELT", "OFF", "PRESET", "PRESSURE", "PROOF", "REHEAT", "ROAST", "SAUTE", "SEAR", "SIMMER",
        "SLOW_COOK", "SMOKE", "SOFTEN", "SOUS_VIDE", "STEAM", "STERILIZE", "STEW", "STIR_FRY", "TIMECOOK", "TOAST",
        "WARM",
    ]
    private static let foodCategories = [
        "BEEF", "BEVERAGE", "CHICKEN", "FISH", "MEAT", "PIZZA", "POPCORN", "PORK", "POTATO", "SHRIMP", "SOUP", "STEAK",
        "TURKEY", "VEGETABLE", "WATER",
    ]
    private static let foodStates = [
        "BRINED", "CANNED", "CHILLED", "COLD_SMOKED", "DEFROSTED", "DRIED", "EMULSIFIED", "FREEZE_DRIED", "FRESH",
        "FROZEN", "MELTED", "REFRIGERATED", "ROOM_TEMPERATURE", "SMOKED", "WHIPPED",
    ]
    private static let doneness = [
        "AL_DENTE", "CREAMY", "CRISPY", "DRY", "FIRM", "FLAKY", "HARD", "JUICY", "MEDIUM", "MEDIUM_RARE",
        "MEDIUM_WELL", "MOIST", "OPAQUE", "OVERCOOKED", "RARE", "RUNNY", "SMOOTH", "SOFT", "SPRINGY", "SUCCULENT",
        "TENDER", "UNDERCOOKED", "VELVETY", "WELL_DONE",
    ]
}
