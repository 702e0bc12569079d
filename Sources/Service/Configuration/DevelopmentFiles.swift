import JSON

/// The files that a development configuration names and that can be made where they are missing.
///
/// They are found before the configuration is judged, since it names faults in files that are not there.
public struct DevelopmentFiles: Sendable, Hashable {
    /// The file of `store.encryptionKey`, where it is a file.
    public let encryptionKeyPath: String?
    /// The files of `amazon.trustAnchors` and `http.caFile`.
    public let authorityPaths: [String]

    /// What `source` names; nil where it is not for development, or not readable.
    public init?(_ source: ConfigurationSource) {
        guard let value = try? JSONValue(json5: source.bytes), value["development"]?.bool == true else { return nil }
        encryptionKeyPath = value["store"]?["encryptionKey"]?["file"]?.string.map(source.resolved)
        authorityPaths = [value["amazon"]?["trustAnchors"]?.string, value["http"]?["caFile"]?.string]
            .compactMap { $0.map(source.resolved) }
    }
}
