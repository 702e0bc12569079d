import HTTP

/// For how long an answer may be kept for its user (RFC 9111 §5.2.2).
enum CachePermission {
    /// The longest that anything is kept, whatever the provider allows.
    static let longestSeconds: Int64 = 3600

    /// The seconds for which the answer may be kept; nil where it may not be.
    ///
    /// Only an explicit `max-age` allows it: what a user owns is never kept on a guess. `s-maxage` speaks to shared
    /// caches; ours is private to one token.
    static func seconds(_ fields: HTTPFields) -> Int64? {
        var maximumAge: Int64?
        for directive in fields.values("Cache-Control").flatMap({ $0.split(separator: ",") }) {
            let parts = directive.filter { $0 != " " && $0 != "\t" && $0 != "\"" }
                .split(separator: "=", maxSplits: 1).map { $0.lowercased() }
            switch parts.first {
            case "no-store", "no-cache": return nil
            case "max-age":
                guard parts.count == 2, let seconds = Int64(parts[1]), maximumAge == nil else { return nil }
                maximumAge = seconds
            default: break
            }
        }
        if fields.values("Vary").contains(where: { $0.contains("*") }) { return nil }
        guard let maximumAge else { return nil }
        let age = fields["Age"].flatMap { Int64($0) } ?? 0
        let left = min(maximumAge, longestSeconds) - max(0, age)
        return left > 0 ? left : nil
    }

    /// Whether an answer may be kept to be asked about by its tag (RFC 9111 §3): `no-cache` wishes just that.
    static func allowsAsking(_ fields: HTTPFields) -> Bool {
        let directives = fields.values("Cache-Control").joined(separator: ",").lowercased()
        return !directives.contains("no-store") && !fields.values("Vary").contains { $0.contains("*") }
    }

    /// The answer's entity tag; nil where it has none of a sane form (RFC 9110 §8.8.3).
    static func tag(_ fields: HTTPFields) -> String? {
        guard let tag = fields["ETag"], tag.utf8.count <= 256, tag.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        let opaque = tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...]
        guard opaque.utf8.count >= 2, opaque.hasPrefix("\""), opaque.hasSuffix("\""),
            !opaque.dropFirst().dropLast().contains("\"")
        else { return nil }
        return tag
    }
}
