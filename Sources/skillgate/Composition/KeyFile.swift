import Crypto
import FoundationEssentials
import Glibc
import Storage

/// Why a key file was not made.
struct KeyFileError: Error {
    let message: String
}

/// A file with one new encryption key, for its owner alone.
enum KeyFile {
    /// Makes the file at `path`, and its folder where that is missing; a file that is there is never touched.
    static func make(at path: String) throws(KeyFileError) {
        if let slash = path.lastIndex(of: "/"), slash != path.startIndex {
            let folder = String(path[..<slash])
            do {
                try FileManager.default.createDirectory(
                    atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            } catch { throw KeyFileError(message: "the folder \(folder) cannot be made") }
        }
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else {
            throw KeyFileError(
                message: errno == EEXIST
                    ? "\(path) is there already, and is left as it is" : "\(path) cannot be made: \(reason(errno))")
        }
        let line = Array(SealingKeys.newLine().exposed.utf8)
        let written = unsafe write(file, line, line.count)
        guard close(file) == 0, written == line.count else {
            unsafe unlink(path)
            throw KeyFileError(message: "\(path) cannot be written: \(reason(errno))")
        }
    }

    private static func reason(_ number: Int32) -> String {
        guard let text = unsafe strerror(number) else { return "error \(number)" }
        return unsafe String(cString: text)
    }
}
