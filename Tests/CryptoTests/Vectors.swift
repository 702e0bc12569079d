import JSON
import TestSupport

/// A fixture's JSON.
func json(_ path: String) throws -> JSONValue { try JSONValue(parsing: Fixtures.bytes(path)) }
