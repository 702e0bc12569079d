public import HTTP
import JSON

/// The two files by which Apple's and Google's systems learn that links to this host open the company's apps.
///
/// Both systems fetch them without following redirects, and keep them for a while; neither is signed.
public struct AssociationFiles: Sendable {
    /// Where Apple's systems look; the name has no ending.
    public static let applePath = "/.well-known/apple-app-site-association"
    /// Where Android looks.
    public static let androidPath = "/.well-known/assetlinks.json"

    private let apps: Configuration.Apps

    /// The files for these apps.
    public init(_ apps: Configuration.Apps) { self.apps = apps }

    /// The addresses of the files for which there are apps; the others stay unknown.
    public var routes: [Route] {
        [apps.ios.isEmpty ? nil : Self.route(Self.applePath, apple), apps.android.isEmpty ? nil : androidRoute]
            .compactMap(\.self)
    }

    private var androidRoute: Route { Self.route(Self.androidPath, android) }

    /// Each app in both forms at once: before iOS 13 `appID` and `paths` are read, since then `appIDs` and `components`.
    var apple: JSONValue {
        let details = apps.ios.map { app -> JSONValue in
            [
                "appIDs": [.string(app.appID)], "components": .array(app.paths.map { PathPattern($0).component }),
                "appID": .string(app.appID), "paths": .array(app.paths.map(JSONValue.string)),
            ]
        }
        return ["applinks": ["apps": [], "details": .array(details)]]
    }

    var android: JSONValue {
        .array(
            apps.android.map { app in
                [
                    "relation": ["delegate_permission/common.handle_all_urls"],
                    "target": [
                        "namespace": "android_app", "package_name": .string(app.package),
                        "sha256_cert_fingerprints": .array(app.fingerprints.map { .string($0.uppercased()) }),
                    ],
                ]
            })
    }

    private static func route(_ path: String, _ content: JSONValue) -> Route {
        let response = HTTPResponse(
            status: 200,
            fields: [
                "Content-Type": "application/json", "Cache-Control": "public, max-age=3600",
                "X-Content-Type-Options": "nosniff",
            ], body: content.encoded())
        return Route(.get, path, timeLimit: .seconds(5)) { _, _ in response }
    }
}

/// A pattern of `apps.ios[].paths`: `*` stands for any characters, `?` for one, and `NOT ` before it turns it round.
struct PathPattern: Sendable, Hashable {
    let pattern: String
    let isExclusion: Bool

    init(_ text: String) {
        isExclusion = text.hasPrefix("NOT ")
        pattern = isExclusion ? String(text.dropFirst(4)) : text
    }

    /// The same in the form that iOS reads since 13.
    var component: JSONValue {
        isExclusion ? ["/": .string(pattern), "exclude": true] : ["/": .string(pattern)]
    }

    /// Whether a path fits, without regard to what `NOT` makes of it.
    func fits(_ path: some StringProtocol) -> Bool {
        let (pattern, path) = (Array(pattern.utf8), Array(path.utf8))
        var (p, s) = (0, 0)
        // Where the last `*` stood, and what it is taken to cover: on a mismatch it covers one more byte.
        var star: (pattern: Int, path: Int)?
        while s < path.count {
            if p < pattern.count, pattern[p] == UInt8(ascii: "*") {
                star = (p, s)
                p += 1
            } else if p < pattern.count, pattern[p] == UInt8(ascii: "?") || pattern[p] == path[s] {
                (p, s) = (p + 1, s + 1)
            } else if let last = star {
                star = (last.pattern, last.path + 1)
                (p, s) = (last.pattern + 1, last.path + 1)
            } else {
                return false
            }
        }
        return pattern[p...].allSatisfy { $0 == UInt8(ascii: "*") }
    }
}

extension Configuration.Apps.IOS {
    /// Whether a link to that path opens the app: the first pattern that fits decides.
    func opens(_ path: some StringProtocol) -> Bool {
        let first = paths.lazy.map { PathPattern($0) }.first { $0.fits(path) }
        return first.map { !$0.isExclusion } ?? false
    }
}

extension Configuration {
    /// The redirect addresses on our host that open none of the company's iOS apps, though there are some: the user would
    /// come back to a web page.
    public var redirectURLsOutsideApps: [(key: String, url: String)] {
        guard !apps.ios.isEmpty else { return [] }
        return skills.enumerated().flatMap { skillIndex, skill in
            (skill.linking?.redirectURLs ?? []).enumerated().compactMap { index, url in
                guard url.hasPrefix(publicURL + "/"), let path = WebAddress(url)?.path,
                    !apps.ios.contains(where: { $0.opens(path) })
                else { return nil }
                return ("skills[\(skillIndex)].linking.redirectURLs[\(index)]", url)
            }
        }
    }
}
