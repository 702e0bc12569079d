package import JSON

/// What every store does alike when an event is posted.
package enum OutboxRules {
    /// The body of a waiting `changed` row after a newer `changed` event joined it.
    ///
    /// The newest value of each property wins. A property that had changed before still counts as changed where the
    /// newer event names it in `state` alone, with its newest value.
    package static func merged(_ older: JSONObject, with newer: JSONObject) -> JSONObject {
        var merged = newer
        let newerState = properties(newer, "state")
        let olderChanged = properties(older, "properties")
        let refreshed = newerState.filter { property in
            PropertyKey(of: property).map { key in olderChanged.contains { PropertyKey(of: $0) == key } } ?? false
        }
        let changed = newestWins(olderChanged, refreshed + properties(newer, "properties"))
        merged["properties"] = .array(changed)
        if older["state"] != nil || newer["state"] != nil {
            let isChanged = Set(changed.compactMap(PropertyKey.init(of:)))
            let state = newestWins(properties(older, "state"), newerState)
            merged["state"] = .array(state.filter { PropertyKey(of: $0).map { !isChanged.contains($0) } ?? false })
        }
        return merged
    }

    /// What is known of the device after `event`; nil where it is gone.
    package static func known(_ state: KnownState?, after event: PostedEvent) -> KnownState? {
        guard event.kind != .removed else { return nil }
        var state = state ?? KnownState()
        if let reported = event.reported { state.reported = reported }
        let news = properties(event.body, "state") + properties(event.body, "properties")
        state.properties = Array(newestWins(state.properties, news).suffix(KnownState.propertyLimit))
        return state
    }

    private static func properties(_ body: JSONObject, _ member: String) -> [JSONValue] { body[member]?.array ?? [] }

    /// Both lists as one in which each property is there once, with its last value.
    private static func newestWins(_ older: [JSONValue], _ newer: [JSONValue]) -> [JSONValue] {
        var places: [PropertyKey: Int] = [:]
        var properties: [JSONValue] = []
        for property in older + newer {
            guard let key = PropertyKey(of: property) else { continue }
            if let place = places[key] {
                properties[place] = property
            } else {
                places[key] = properties.count
                properties.append(property)
            }
        }
        return properties
    }
}
