public import Crypto
import JSON

/// The users of the embedded provider, read from the file that `provider.embedded.users` names.
public struct Users: Sendable {
    /// One user.
    public struct User: Sendable {
        /// The id in tokens, `sub`.
        public let subject: String
        /// What the user types at the sign-in.
        public let username: String
        /// What proves that it is the user.
        public let credential: Credential
        /// The name to show.
        public let name: String
        /// The address; nil where none is known, which a user of the store may have.
        public let email: String?
        /// The language, `en-US` for example.
        public let locale: String?
        /// Whether the user may do nothing at present.
        public let isDisabled: Bool
    }

    /// What proves that it is the user.
    public enum Credential: Sendable {
        /// A password in clear: development alone.
        case password(Secret)
        /// A hash of the password.
        case hash(PasswordHash)
    }

    /// One thing that is wrong with the file.
    public struct Fault: Hashable, Sendable {
        /// Where, as in `users[2].email`; empty for the file as a whole.
        public let path: String
        /// What; never quotes a value.
        public let problem: String
    }

    /// Everything that is wrong with the file.
    public struct Faults: Error, Hashable, Sendable {
        /// The faults, in the order of the file.
        public let faults: [Fault]
    }

    /// The users, in the order of the file.
    public let all: [User]
    private let places: [String: Int]

    /// Reads the file; plain passwords are taken in `development` alone.
    ///
    /// - Throws: ``Faults``, all of them at once.
    public init(json5 bytes: [UInt8], development: Bool) throws(Faults) {
        let value: JSONValue
        do { value = try JSONValue(json5: bytes) } catch {
            throw Faults(faults: [Fault(path: "", problem: error.reason)])
        }
        var reader = Reader(development: development)
        let users = reader.users(value)
        guard reader.faults.isEmpty else { throw Faults(faults: reader.faults) }
        all = users
        places = Dictionary(users.enumerated().map { ($1.subject, $0) }) { first, _ in first }
    }

    /// Nobody, where there is no file.
    public static let none = Users()

    private init() {
        all = []
        places = [:]
    }

    /// The user of that `sub`.
    public subscript(subject: String) -> User? { places[subject].map { all[$0] } }
}

/// Reads the users file member by member and notes what is wrong.
private struct Reader {
    let development: Bool
    var faults: [Users.Fault] = []
    private var subjects: Set<String> = []
    private var usernames: Set<String> = []

    init(development: Bool) { self.development = development }

    private static let members: Set<String> = [
        "sub", "username", "password", "passwordHash", "name", "email", "locale", "disabled",
    ]

    mutating func users(_ value: JSONValue) -> [Users.User] {
        guard let object = value.object else {
            note("", "not an object")
            return []
        }
        for name in object.names where name != "users" { note(name, "unknown key") }
        guard let list = object["users"]?.array else {
            note("users", object["users"] == nil ? "missing" : "not a list")
            return []
        }
        return list.enumerated().compactMap { index, user in self.user(user, at: "users[\(index)]") }
    }

    private mutating func user(_ value: JSONValue, at path: String) -> Users.User? {
        guard let object = value.object else {
            note(path, "not an object")
            return nil
        }
        for name in object.names where !Self.members.contains(name) { note("\(path).\(name)", "unknown key") }
        let subject = text("sub", of: object, at: path)
        let username = text("username", of: object, at: path)
        let name = text("name", of: object, at: path)
        let email = text("email", of: object, at: path)
        if let email, !Users.isAddress(email) { note("\(path).email", "not an address") }
        let locale = optionalText("locale", of: object, at: path)
        if let locale, !Users.isLocale(locale) { note("\(path).locale", "not a locale, as en-US is") }
        if let subject, !subjects.insert(subject).inserted { note("\(path).sub", "another user has it") }
        if let username, !usernames.insert(username).inserted { note("\(path).username", "another user has it") }
        let credential = credential(of: object, at: path)
        let isDisabled = flag("disabled", of: object, at: path)
        guard let subject, let username, let name, let email, let credential else { return nil }
        return Users.User(
            subject: subject, username: username, credential: credential, name: name, email: email, locale: locale,
            isDisabled: isDisabled)
    }

    private mutating func credential(of object: JSONObject, at path: String) -> Users.Credential? {
        switch (object["password"], object["passwordHash"]) {
        case (nil, nil):
            note(path, "neither password nor passwordHash")
            return nil
        case (.some, .some):
            note(path, "both password and passwordHash")
            return nil
        case (.some, nil):
            if !development { note("\(path).password", "a plain password is taken in development alone") }
            return text("password", of: object, at: path).map { .password(Secret($0)) }
        case (nil, .some):
            guard let text = text("passwordHash", of: object, at: path) else { return nil }
            guard let hash = PasswordHash(phc: text) else {
                note("\(path).passwordHash", "not a PHC string of scrypt within bounds")
                return nil
            }
            return .hash(hash)
        }
    }

    private mutating func text(_ name: String, of object: JSONObject, at path: String) -> String? {
        guard object[name] != nil else {
            note("\(path).\(name)", "missing")
            return nil
        }
        return optionalText(name, of: object, at: path)
    }

    private mutating func optionalText(_ name: String, of object: JSONObject, at path: String) -> String? {
        guard let value = object[name] else { return nil }
        guard let text = value.string else {
            note("\(path).\(name)", "not a text")
            return nil
        }
        guard Users.isPlain(text) else {
            note("\(path).\(name)", Users.plainTexts)
            return nil
        }
        return text
    }

    private mutating func flag(_ name: String, of object: JSONObject, at path: String) -> Bool {
        guard let value = object[name] else { return false }
        guard let flag = value.bool else {
            note("\(path).\(name)", "neither true nor false")
            return false
        }
        return flag
    }

    private mutating func note(_ path: String, _ problem: String) {
        faults.append(Users.Fault(path: path, problem: problem))
    }
}

// MARK: - Rules that hold for users of the store too

extension Users {
    /// What is wrong with a text that ``isPlain(_:)`` refuses.
    public static let plainTexts = "empty, longer than 255 bytes, or with control characters"

    /// Whether a member of a user may have that text.
    public static func isPlain(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 255
            && text.unicodeScalars.allSatisfy { !(0..<0x20).contains($0.value) && !(0x7F..<0xA0).contains($0.value) }
    }

    /// Whether the text has the form of an e-mail address.
    public static func isAddress(_ text: String) -> Bool {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { !$0.isEmpty } && !text.contains(" ")
    }

    /// Whether the text has the form of a locale, as `en-US` has.
    public static func isLocale(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard let language = parts.first, (2...3).contains(language.utf8.count) else { return false }
        return parts.count <= 3
            && parts.allSatisfy { part in
                (2...8).contains(part.utf8.count)
                    && part.utf8.allSatisfy { (48...57).contains($0) || (97...122).contains($0 | 32) }
            }
    }
}
