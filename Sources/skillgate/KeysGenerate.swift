import Crypto
import Storage

/// `skillgate keys generate`: the file that `store.encryptionKey` names.
enum KeysGenerateCommand: Command {
    static let name = "keys generate"
    static let summary = "makes a key for store.encryptionKey"
    static let explanation = """
        Prints a new random key of 256 bits in base64, or writes it to a new file that only its owner can read. The file
        named by store.encryptionKey holds one key a line; the first is the current one.
        """
    static let options: [CommandOption] = [
        CommandOption("--out", value: "FILE", "writes the key there; a file that exists is never touched")
    ]
    static let example = "skillgate keys generate --out encryption.key"

    static func run(_ arguments: Arguments) async throws(UsageError) -> Int32 {
        guard let path = arguments.value("--out") else {
            Output.line(String(SealingKeys.newLine().exposed.dropLast()))
            return 0
        }
        do throws(KeyFileError) { try KeyFile.make(at: path) } catch {
            Output.error("skillgate keys generate: \(error.message)")
            return 1
        }
        return 0
    }
}
