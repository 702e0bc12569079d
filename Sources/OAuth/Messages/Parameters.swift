import HTTP

/// The parameters of one request: one without a value is as one that is absent (RFC 6749 §3.1, §3.2).
struct Parameters: Sendable {
    private let form: [Form.Item]

    init(_ form: Form) { self.form = form.items.filter { !$0.value.isEmpty } }

    subscript(name: String) -> String? { form.first { $0.name == name }?.value }

    func values(_ name: String) -> [String] { form.filter { $0.name == name }.map(\.value) }

    func isRepeated(_ name: String) -> Bool { values(name).count > 1 }

    /// The first known name that is given more than once; unknown ones are ignored.
    func repeated(but exception: String? = nil) -> String? {
        Self.known.first { $0 != exception && isRepeated($0) }
    }

    /// The first known name that is given.
    var firstKnown: String? { Self.known.first { self[$0] != nil } }

    /// Every parameter that means something at one of the provider's addresses.
    private static let known = [
        "response_type", "client_id", "redirect_uri", "scope", "state", "code_challenge", "code_challenge_method",
        "resource", "ui_locales", "user_locale", "grant_type", "code", "code_verifier", "client_secret",
        "refresh_token", "token", "token_type_hint",
    ]
}

/// Why a list of scopes is refused.
struct ScopeFault: Error, Hashable {
    let description: String
}

/// The scopes of a list, each once, all of them among `allowed`; all of those where the list is absent or empty.
func requestedScopes(_ text: String?, among allowed: [String]) throws(ScopeFault) -> [String] {
    var scopes: [String] = []
    for scope in (text ?? "").split(separator: " ") {
        guard allowed.contains(where: { Array($0.utf8) == Array(scope.utf8) }) else {
            throw ScopeFault(description: "the scope \(scope.prefix(64)) is not among those that may be asked for")
        }
        if !scopes.contains(String(scope)) { scopes.append(String(scope)) }
    }
    return scopes.isEmpty ? allowed : scopes
}
