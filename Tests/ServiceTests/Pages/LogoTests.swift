import HTTP
import JSON
import Service
import TestSupport
import Testing

/// The company's logo: what is taken, and how it is served.
@Suite("The company's logo", .timeLimit(.minutes(5))) struct LogoTests {
    static let svg = #"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><path d="M0 0h1v1z"/></svg>"#
    static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0]

    /// A configuration whose logo is a file of that content.
    private func configuration(_ bytes: [UInt8], at path: String = "logo.bin") throws -> Configuration {
        let draft = draft(path)
        let source = ConfigurationSource(
            bytes: draft.value.encoded(), folder: "/etc/skillgate", environment: { draft.environment[$0] },
            readFile: { $0 == "/etc/skillgate/logo.bin" ? bytes : draft.files[$0].map { Array($0.utf8) } })
        return try Configuration(source)
    }

    private func draft(_ path: String) -> ConfigurationDraft {
        var draft = ConfigurationDraft.production
        draft["company"] = ["logo": .string(path)]
        return draft
    }

    private func problem(_ bytes: [UInt8], at path: String = "logo.bin") -> String? {
        do {
            _ = try configuration(bytes, at: path)
            return nil
        } catch {
            let faults = (error as? FileFaults)?.faults ?? []
            return faults.map(\.path) == ["company.logo"] ? faults[0].problem : "\(error)"
        }
    }

    @Test("a picture is known by its content, whatever its file is called")
    func kinds() throws {
        let kinds: [([UInt8], String, String)] = [
            (Array(Self.svg.utf8), "image/svg+xml", ".svg"), (Self.png, "image/png", ".png"),
            ([0xFF, 0xD8, 0xFF, 0xE0, 0], "image/jpeg", ".jpg"),
            (Array("RIFF".utf8) + [1, 0, 0, 0] + Array("WEBPVP8 ".utf8), "image/webp", ".webp"),
            (
                Array(("\u{FEFF}<?xml version=\"1.0\"?>\n<!-- <x> -->\n<!DOCTYPE svg>\n" + Self.svg).utf8),
                "image/svg+xml", ".svg"
            ),
        ]
        for (bytes, type, ending) in kinds {
            let logo = try #require(try configuration(bytes).company.logo)
            #expect(logo.mediaType == type && logo.path.hasSuffix(ending) && logo.path.hasPrefix("/assets/logo-"))
            #expect(logo.bytes == bytes)
        }
        #expect(try ConfigurationDraft.production.configuration().company.logo == nil)
    }

    @Test("what is no picture is a fault at the start, with what to do")
    func faults() {
        let cases: [([UInt8], String)] = [
            ([], "empty"), (Array("GIF89a".utf8), "no SVG"), (Array("<html></html>".utf8), "no SVG"),
            (Array("<svgx xmlns=\"http://www.w3.org/2000/svg\"/>".utf8), "no SVG"), ([0xFF, 0xD8], "no SVG"),
            (Array("<!DOCTYPE svg [<!ENTITY x \"y\">]>".utf8) + Array(Self.svg.utf8), "no SVG"),
            (Array("<!-- ".utf8) + Array(Self.svg.utf8), "no SVG"), (Array("RIFF____WAVE".utf8), "no SVG"),
            (Array("<svg viewBox=\"0 0 1 1\"/>".utf8), "xmlns"), (Array(Self.svg.utf8) + [0xC3, 0x28], "no SVG"),
            (Self.png + [UInt8](repeating: 0, count: Logo.limitBytes), "larger than 256 KiB"),
        ]
        for (bytes, expected) in cases { #expect(problem(bytes)?.contains(expected) == true, "\(expected)") }
        #expect(problem(Self.png + [UInt8](repeating: 0, count: Logo.limitBytes - Self.png.count)) == nil)
        for path in ["https://www.example.com/logo.svg", "http://127.0.0.1/logo.svg", "HTTPS://x/y"] {
            #expect(problem(Self.png, at: path)?.contains("give its file") == true)
        }
        for path in ["nothing.svg", "data:image/png;base64,AA", "//example.com/x.svg"] {
            #expect(problem(Self.png, at: path)?.contains("cannot be read") == true)
        }
    }

    @Test("it is served by us, for long, and can do nothing where it is opened by itself")
    func served() async throws {
        let running = try await ServiceTests.start()
        let page = await Browser(running).get("/account/sign-in")
        let logo = try #require(running.configuration.company.logo)
        #expect(page.text.contains("<img src=\"\(logo.path)\" alt=\"\" height=\"40\"><span>Ride Hailer</span>"))
        #expect(page.policy.contains("img-src 'self'") && !page.text.contains("class=\"mark\""))
        let answer = await running.get(logo.path)
        #expect(answer.status == 200 && answer.body == logo.bytes && answer.fields["Content-Type"] == "image/svg+xml")
        #expect(
            answer.fields["Content-Security-Policy"] == "default-src 'none'; style-src 'unsafe-inline'; sandbox")
        #expect(answer.fields["X-Content-Type-Options"] == "nosniff")
        #expect(answer.fields["Cache-Control"] == "public, max-age=31536000, immutable")
        #expect(answer.fields["Set-Cookie"] == nil)
        for other in [logo.path + "x", "/assets/logo.svg", "/assets/"] {
            #expect(await running.get(other).status == 404)
        }
        let bare = try await ServiceTests.start { $0.company.logo = nil }
        #expect(await bare.get(logo.path).status == 404)
        let initial = await Browser(bare).get("/account/sign-in")
        #expect(initial.text.contains("class=\"mark\" aria-hidden=\"true\">R</span>") && !initial.text.contains("<img"))
    }

    @Test("another picture has another address")
    func named() throws {
        let one = try #require(try configuration(Self.png).company.logo)
        let two = try #require(try configuration(Self.png + [1]).company.logo)
        let same = try #require(try configuration(Self.png).company.logo)
        #expect(one.path != two.path && one == same)
    }
}
