import Simulator

/// Results as the XML that CI systems read: one test suite, one test case a result.
struct JUnitReport {
    /// One result.
    struct Case {
        /// What was tried.
        let name: String
        let seconds: Double
        /// What was wrong, a line each; empty where nothing was.
        let failures: [String]
        /// Why it was left out; nil where it was tried.
        var skipped: String?
    }

    let suite: String
    let cases: [Case]

    /// The file's text.
    var text: String {
        let failed = cases.filter { !$0.failures.isEmpty }.count
        let skipped = cases.filter { $0.skipped != nil }.count
        let time = Self.seconds(cases.reduce(0) { $0 + $1.seconds })
        var lines = [
            #"<?xml version="1.0" encoding="UTF-8"?>"#,
            #"<testsuites tests="\#(cases.count)" failures="\#(failed)" time="\#(time)">"#,
            #"  <testsuite name="\#(Self.escaped(suite))" tests="\#(cases.count)" failures="\#(failed)" errors="0" "#
                + #"skipped="\#(skipped)" time="\#(time)">"#,
        ]
        for item in cases {
            let name = Self.escaped(item.name)
            let opening =
                #"    <testcase classname="\#(Self.escaped(suite))" name="\#(name)" time="\#(Self.seconds(item.seconds))""#
            if let reason = item.skipped {
                lines += [opening + ">", #"      <skipped message="\#(Self.escaped(reason))"/>"#, "    </testcase>"]
            } else if let first = item.failures.first {
                let all = Self.escaped(item.failures.joined(separator: "\n"))
                lines += [
                    opening + ">", #"      <failure message="\#(Self.escaped(first))">\#(all)</failure>"#,
                    "    </testcase>",
                ]
            } else {
                lines.append(opening + "/>")
            }
        }
        return (lines + ["  </testsuite>", "</testsuites>", ""]).joined(separator: "\n")
    }

    /// Text for content and attributes; what XML 1.0 has no way to say becomes U+FFFD (XML 1.0 §2.2).
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "\n", "\t", "\r": escaped += "&#\(scalar.value);"
            case "\u{0}"..."\u{1F}", "\u{FFFE}", "\u{FFFF}": escaped += "\u{FFFD}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    /// With three digits after the point, and never as an exponent, which not every reader takes.
    private static func seconds(_ value: Double) -> String {
        let thousandths = Int((value * 1000).rounded())
        let rest = "\(thousandths % 1000)"
        return "\(thousandths / 1000)." + String(repeating: "0", count: 3 - rest.count) + rest
    }

    /// Writes the file.
    ///
    /// - Throws: ``UsageError`` where it cannot be written.
    func write(to path: String) throws(UsageError) {
        guard AtomicFile.write(Array(text.utf8), to: path) else { throw UsageError("\(path) cannot be written") }
    }
}
