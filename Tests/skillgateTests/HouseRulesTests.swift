import FoundationEssentials
import Testing

/// Rules of this house that a compiler cannot hold.
@Suite("House rules") struct HouseRulesTests {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static func sources(_ folder: String) throws -> [(path: String, text: String)] {
        let base = root.appending(path: folder).path()
        let names = try FileManager.default.subpathsOfDirectory(atPath: base)
        return try names.filter { $0.hasSuffix(".swift") }.map { name in
            (folder + "/" + name, try String(contentsOfFile: base + "/" + name, encoding: .utf8))
        }
    }

    static func lines(_ text: String) -> [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }

    @Test("Locked is the only lock")
    func locks() throws {
        let files = try Self.sources("Sources")
        #expect(files.count > 20)
        for (path, text) in files where path != "Sources/Concurrency/Locked.swift" {
            for line in Self.lines(text) where !line.drop(while: { $0 == " " }).hasPrefix("//") {
                #expect(!line.contains("Mutex"), "\(path): \(line)")
                #expect(!line.contains("pthread_mutex"), "\(path): \(line)")
                #expect(!line.contains("NSLock"), "\(path): \(line)")
            }
        }
    }

    @Test("nothing of the program links the full Foundation")
    func foundation() throws {
        // Apps have it anyway; the program never links their library, as another rule says.
        for (path, text) in try Self.sources("Sources") where !path.hasPrefix("Sources/AppLinking/") {
            for line in Self.lines(text) {
                let words = line.split(separator: " ")
                #expect(!(words.contains("import") && words.last == "Foundation"), "\(path): \(line)")
            }
        }
    }

    @Test("nothing is forced, and nothing is left open")
    func forced() throws {
        for (path, text) in try Self.sources("Sources") {
            for line in Self.lines(text) {
                for word in ["try" + "!", "as" + "!", "TO" + "DO", "FIX" + "ME"] {
                    #expect(!line.contains(word), "\(path): \(line)")
                }
            }
        }
    }

    @Test("tests never sleep")
    func sleeping() throws {
        for (path, text) in try Self.sources("Tests") {
            for line in Self.lines(text) {
                for word in ["Task.sleep" + "(", "usleep" + "(", "nanosleep" + "("] {
                    #expect(!line.contains(word), "\(path): \(line)")
                }
            }
        }
    }

    @Test("what apps link imports nothing that they have not, and nothing else imports it")
    func apps() throws {
        let own = ["Foundation", "FoundationNetworking", "LinkMessages", "UIKit", "AuthenticationServices"]
        for (path, text) in try Self.sources("Sources") {
            for line in Self.lines(text) {
                let words = line.split(separator: " ")
                guard let place = words.firstIndex(of: "import"), place < 2, words.count == place + 2 else { continue }
                let module = String(words[place + 1])
                #expect(!path.hasPrefix("Sources/LinkMessages/"), "\(path): \(line)")
                #expect(module != "AppLinking", "\(path): \(line)")
                if path.hasPrefix("Sources/AppLinking/") { #expect(own.contains(module), "\(path): \(line)") }
            }
        }
    }

    @Test(
        "the pure modules read no clock, and import neither log nor transport",
        arguments: ["HTTP", "JSON", "Crypto", "LinkMessages", "Alexa", "OAuth"])
    func pure(module: String) throws {
        for (path, text) in try Self.sources("Sources/" + module) {
            for line in Self.lines(text) {
                let code = line.prefix { $0 != "/" }
                #expect(!code.contains("import Telemetry"), "\(path): \(line)")
                #expect(!code.contains("import Transport"), "\(path): \(line)")
                #expect(!code.contains("Date()"), "\(path): \(line)")
                #expect(!code.contains("clock_gettime"), "\(path): \(line)")
            }
        }
    }
}
