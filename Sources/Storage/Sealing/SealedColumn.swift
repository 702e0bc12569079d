/// The columns that hold sealed values: the whole list.
///
/// Sealing and opening take one of these, so that no column is sealed that a change of the key would leave behind.
package enum SealedColumn: String, CaseIterable, Sendable {
    case grantAccessToken = "grants.access_token"
    case grantRefreshToken = "grants.refresh_token"
    case signingKey = "signing_keys.private_key"
    case outboxBody = "outbox.body"
    case knownState = "known_states.state"
    case providerKey = "provider_keys.value"
    case refreshAnswer = "refresh_tokens.answer"
    case passwordHash = "users.password_hash"
    case linkVerifier = "link_attempts.verifier"
    /// A known text under each key in use, by which a wrong key is noticed; it goes with its key.
    case keyProbe = "sealing_keys.probe"

    /// The table's name and the column's, which both are part of the additional data.
    var names: (table: String, column: String) {
        let parts = rawValue.split(separator: ".")
        return (String(parts[0]), String(parts[1]))
    }

    var table: String { names.table }
    var column: String { names.column }

    /// What finds a row again: in order, unique, never NULL.
    var key: String {
        switch self {
        case .grantAccessToken, .grantRefreshToken, .signingKey, .outboxBody, .knownState, .passwordHash: "rowid"
        case .providerKey: "name"
        case .refreshAnswer: "hash"
        case .linkVerifier: "state_hash"
        case .keyProbe: "id"
        }
    }

    /// The row as the additional data names it, in SQL.
    var row: String {
        switch self {
        case .grantAccessToken, .grantRefreshToken, .signingKey, .keyProbe: "id"
        case .outboxBody: "message_id"
        case .knownState: "length(CAST(subject AS BLOB)) || ' ' || subject || ' ' || device_id"
        case .providerKey: "name"
        case .refreshAnswer: "hash"
        case .passwordHash: "subject"
        case .linkVerifier: "state_hash"
        }
    }
}
