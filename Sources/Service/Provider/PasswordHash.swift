import Crypto

/// The hash of a password as a PHC string: `$scrypt$ln=16,r=8,p=1$salt$hash`.
///
/// Both binary parts are base64 without padding, as the PHC format asks.
public struct PasswordHash: Sendable, Hashable {
    /// The binary logarithm of scrypt's cost.
    public let logarithmicCost: Int
    /// scrypt's block size.
    public let blockSize: Int
    /// How many lanes scrypt has.
    public let parallelism: Int
    /// The salt.
    public let salt: [UInt8]
    /// The hash.
    public let hash: [UInt8]

    /// How much memory one check may take.
    public static let memoryLimitBytes = 256 << 20

    /// Reads a PHC string; nil where it is none, or of a cost that is no protection or no longer bearable.
    public init?(phc text: String) {
        let parts = text.split(separator: "$", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0].isEmpty, parts[1] == "scrypt",
            let parameters = Self.parameters(parts[2]), let salt = Self.decoded(parts[3]),
            let hash = Self.decoded(parts[4]), (8...64).contains(salt.count), (16...64).contains(hash.count)
        else { return nil }
        let (cost, blockSize, parallelism) = parameters
        guard (10...24).contains(cost), (1...32).contains(blockSize), (1...16).contains(parallelism),
            128 * blockSize << cost <= Self.memoryLimitBytes
        else { return nil }
        logarithmicCost = cost
        self.blockSize = blockSize
        self.parallelism = parallelism
        self.salt = salt
        self.hash = hash
    }

    /// A hash of the cost that new passwords get.
    init(salt: [UInt8], hash: [UInt8]) {
        logarithmicCost = Self.newCost.logarithmic
        blockSize = Self.newCost.blockSize
        parallelism = Self.newCost.parallelism
        self.salt = salt
        self.hash = hash
    }

    private static func parameters(_ text: Substring) -> (cost: Int, blockSize: Int, parallelism: Int)? {
        let names = ["ln", "r", "p"]
        let pairs = text.split(separator: ",", omittingEmptySubsequences: false)
        guard pairs.count == names.count else { return nil }
        var values: [Int] = []
        for (name, pair) in zip(names, pairs) {
            let digits = pair.dropFirst(name.count + 1)
            guard pair.hasPrefix(name + "="), (1...3).contains(digits.count), digits.first != "0",
                digits.utf8.allSatisfy({ (48...57).contains($0) }), let value = Int(digits)
            else { return nil }
            values.append(value)
        }
        return (values[0], values[1], values[2])
    }

    private static func decoded(_ text: Substring) -> [UInt8]? {
        guard !text.contains("=") else { return nil }
        return Base64.decode(text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4))
    }
}

extension PasswordHash: CustomStringConvertible, CustomReflectable {
    /// Nothing of the hash.
    public var description: String { "<redacted>" }
    /// Nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
