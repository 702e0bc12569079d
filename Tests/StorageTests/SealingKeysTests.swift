import Crypto
import FoundationEssentials
import Storage
import Testing

@Suite("Encryption keys", .timeLimit(.minutes(5))) struct SealingKeysTests {
    private func fault(_ text: String) -> StorageError? {
        do throws(StorageError) {
            _ = try SealingKeys(text: Secret(text), origin: "test")
            return nil
        } catch { return error }
    }

    @Test("one key a line, the first is current; blank lines and line ends do not matter")
    func lines() throws {
        let (one, two) = (TestKeys.first, TestKeys.second)
        let ids = try TestKeys.keys(one, two).ids
        #expect(ids.count == 2)
        #expect(try TestKeys.keys(two, one).ids == ids.reversed())
        #expect(try SealingKeys(text: Secret("\n\(one)\r\n  \(two)\n\n"), origin: "test").ids == ids)
        #expect(try SealingKeys(text: SealingKeys.newLine(), origin: "test").ids.count == 1)
        #expect(SealingKeys.newLine() != SealingKeys.newLine())
    }

    @Test(
        "anything else is refused with its line, never its text",
        arguments: [
            ("", "test holds no key"), ("\n\n", "test holds no key"),
            ("AAAA", "line 1 of test is not 32 bytes in base64"),
            (TestKeys.first + "\nnot a key", "line 2 of test is not 32 bytes in base64"),
            (String(TestKeys.first.dropLast()), "line 1 of test is not 32 bytes in base64"),
            (TestKeys.first + "AAAA", "line 1 of test is not 32 bytes in base64"),
        ])
    func malformed(text: String, reason: String) {
        #expect(fault(text) == .encryptionKeys(reason))
    }

    @Test("a key file that others may read is refused, as is one that is missing or no file")
    func file() async throws {
        try await withFolder { folder in
            let path = folder + "/keys"
            try Data((TestKeys.first + "\n").utf8).write(to: URL(filePath: path))
            func problem(_ path: String) -> String {
                do throws(StorageError) {
                    _ = try SealingKeys(file: path)
                    return ""
                } catch { return error.description }
            }
            for (mode, isGood) in [(0o600, true), (0o400, true), (0o640, false), (0o604, false), (0o620, false)] {
                try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
                #expect(problem(path).isEmpty == isGood, "\(mode)")
            }
            #expect(problem(path).contains("others may read or write \(path)"))
            #expect(problem(folder + "/none").contains("No such file"))
            #expect(problem(folder).contains("is not a file"))
        }
    }
}
