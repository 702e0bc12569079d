import Glibc

/// Files that no reader ever sees half written.
enum AtomicFile {
    /// Writes beside the file and renames; the mode holds from the first byte on.
    ///
    /// - Returns: whether it succeeded; otherwise what was there before is untouched.
    static func write(_ bytes: [UInt8], to path: String, mode: mode_t = 0o644) -> Bool {
        let temporary = "\(path).\(getpid()).new"
        unsafe unlink(temporary)
        let file = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
        guard file >= 0 else { return false }
        var rest = bytes[...]
        var isWhole = true
        while !rest.isEmpty {
            let written = unsafe rest.withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, $0.count) }
            if written < 0 {
                if errno == EINTR { continue }
                isWhole = false
                break
            }
            rest = rest.dropFirst(written)
        }
        guard close(file) == 0, isWhole, unsafe rename(temporary, path) == 0 else {
            unsafe unlink(temporary)
            return false
        }
        return true
    }
}
