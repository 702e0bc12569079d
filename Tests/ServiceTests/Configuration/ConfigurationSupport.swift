import Crypto
import JSON
import Service

/// A configuration in which a test can change one value.
struct ConfigurationDraft {
    var value: JSONValue
    var environment: [String: String] = [
        "SECRET": "hunter2-value", "EMPTY": "", "KEY": Base64.encode([UInt8](repeating: 7, count: 32)),
    ]
    var files: [String: String] = [
        "/etc/skillgate/intents.json5":
            "{ defaultLocale: 'en-US', requests: { LaunchRequest: { say: { 'en-US': 'Hello.' } } } }",
        "/etc/skillgate/bad.json5": "{ defaultLocale: 'en-US', requests: { LaunchRequest: { sya: 1 } } }",
        "/etc/skillgate/users.json5": "{ users: [] }",
        "/etc/skillgate/plain.json5":
            "{ users: [{ sub: 'u', username: 'u', password: 'p', name: 'U', email: 'u@example.com' }] }",
        "/etc/skillgate/secret.txt": "from a file\n", "/etc/skillgate/empty.txt": "\n", "/etc/skillgate/some.pem": "x",
    ]

    static let production = ConfigurationDraft(value: [
        "publicURL": "https://skill.example.com",
        "store": ["url": "sqlite:skillgate.sqlite", "encryptionKey": ["env": "KEY"]],
        "skills": [
            [
                "name": "rides", "id": "amzn1.ask.skill.TEST",
                "linking": ["clientID": "linking", "clientSecret": ["env": "SECRET"]],
                "events": ["clientID": "events", "clientSecret": ["file": "secret.txt"]],
                "intents": "intents.json5", "smartHome": true,
            ]
        ],
        "provider": [
            "embedded": ["users": "users.json5"], "scopes": ["custom": ["profile"], "smartHome": ["devices"]],
            "clients": [
                [
                    "id": "alexa", "secret": ["env": "SECRET"],
                    "redirectURIs": ["https://layla.amazon.com/api/skill/link/M"],
                ],
                ["id": "app", "redirectURIs": ["com.example.app:/callback"]],
            ],
        ],
        "forwarder": ["secret": ["env": "SECRET"]],
    ])

    static let external: ConfigurationDraft = {
        var draft = production
        draft["provider"] = [
            "external": ["issuer": "https://login.example.com", "jwksURL": "https://login.example.com/jwks.json"],
            "scopes": ["smartHome": ["devices"]],
        ]
        return draft
    }()

    static let development: ConfigurationDraft = {
        var draft = production
        draft["development"] = true
        draft["publicURL"] = "http://127.0.0.1:0"
        return draft
    }()

    /// The value at a path as faults write it: `skills[0].linking.clientID`.
    subscript(path: String) -> JSONValue? {
        get { nil }
        set { value = Self.set(newValue, at: Self.steps(path)[...], of: value) ?? .null }
    }

    func faults() -> [FileFault] {
        do throws(FileFaults) {
            _ = try configuration()
            return []
        } catch { return error.faults }
    }

    func configuration() throws(FileFaults) -> Configuration {
        let (environment, files) = (environment, files)
        return try Configuration(
            ConfigurationSource(
                bytes: value.encoded(), folder: "/etc/skillgate", environment: { environment[$0] },
                readFile: { files[$0].map { Array($0.utf8) } }))
    }

    private enum Step {
        case name(String)
        case index(Int)
    }

    private static func steps(_ path: String) -> [Step] {
        path.split(separator: ".").flatMap { part -> [Step] in
            let pieces = part.split(separator: "[")
            return [.name(String(pieces[0]))] + pieces.dropFirst().map { .index(Int($0.dropLast()) ?? 0) }
        }
    }

    private static func set(_ new: JSONValue?, at steps: ArraySlice<Step>, of value: JSONValue?) -> JSONValue? {
        guard let step = steps.first else { return new }
        switch step {
        case .name(let name):
            var object = value?.object ?? JSONObject()
            object[name] = set(new, at: steps.dropFirst(), of: object[name])
            return .object(object)
        case .index(let index):
            var array = value?.array ?? []
            let inner = set(new, at: steps.dropFirst(), of: index < array.count ? array[index] : nil)
            if index < array.count {
                if let inner { array[index] = inner } else { array.remove(at: index) }
            } else if let inner {
                array.append(inner)
            }
            return .array(array)
        }
    }
}
