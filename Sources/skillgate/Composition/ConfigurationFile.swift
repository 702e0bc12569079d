import FoundationEssentials
import JSON
import Service
import Simulator
import Storage
import Time

/// Reads the configuration for a command, and says what is wrong with it.
enum ConfigurationFile {
    /// The configuration at `path`; nil where it has faults, which are printed then: the command exits with 2.
    static func read(_ path: String, asJSON: Bool = false) -> Configuration? {
        do throws(FileFaults) {
            let source = try ConfigurationSource(path: path)
            try prepare(source)
            return try Configuration(source)
        } catch {
            tell(error.faults, of: path, asJSON: asJSON)
            return nil
        }
    }

    /// Says what is wrong with the configuration at `path`, or with what a command needs of it.
    static func tell(_ faults: [FileFault], of path: String, asJSON: Bool) {
        if asJSON {
            for fault in faults { Output.line(["key": .string(fault.path), "problem": .string(fault.problem)]) }
            return
        }
        Output.error("\(path): \(faults.count == 1 ? "1 fault" : "\(faults.count) faults")")
        for fault in faults {
            Output.error("  " + (fault.path.isEmpty ? fault.problem : "\(fault.path): \(fault.problem)"))
        }
    }

    /// Makes what a development configuration names and what is not there yet: an encryption key, and the authority of
    /// the simulator that plays Amazon.
    static func prepare(_ source: ConfigurationSource) throws(FileFaults) {
        guard let files = DevelopmentFiles(source) else { return }
        if let path = files.encryptionKeyPath, !FileManager.default.fileExists(atPath: path) {
            do throws(KeyFileError) { try KeyFile.make(at: path) } catch {
                throw FileFaults([FileFault(path: "store.encryptionKey", problem: error.message)])
            }
        }
        for path in files.authorityPaths where !FileManager.default.fileExists(atPath: path) {
            guard path.hasSuffix("/" + Authority.rootFile) else { continue }
            let folder = String(path.dropLast(Authority.rootFile.count + 1))
            do throws(AuthorityError) { _ = try Authority.load(folder: folder, now: SystemClock.now) } catch {
                throw FileFaults([FileFault(path: "amazon.trustAnchors", problem: error.message)])
            }
        }
    }
}
