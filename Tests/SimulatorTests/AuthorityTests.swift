import Crypto
import FoundationEssentials
import Simulator
import Testing
import Time

/// A folder that is gone at the end of the test.
func withFolder<Result>(_ body: (String) async throws -> Result) async throws -> Result {
    let folder = FileManager.default.temporaryDirectory.path + "/skillgate-" + SecureRandom.token(bytes: 8)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    return try await body(folder)
}

@Suite("The simulated authority") struct AuthorityTests {
    static let now = UnixTime(seconds: 1_900_000_000)
    static let day: Int64 = 86_400

    @Test("its certificates lead to its root, and hold the names that are asked for")
    func chains() throws {
        let authority = try Authority(now: Self.now)
        let anchors = try authority.anchors()
        for identity in [authority.signing, authority.server] {
            let verdict = anchors.judge(
                leaf: identity.chain[0], intermediates: Array(identity.chain.dropFirst()), at: Self.now)
            #expect(verdict == .trusted)
            #expect(identity.key.publicKey.pem == identity.chain[0].publicKey.pem)
        }
        #expect(authority.signing.chain[0].dnsNames == ["echo-api.amazon.com"])
        #expect(authority.signing.chain[0].publicKey.kind == .rsa(bits: 2048))
        #expect(authority.signing.chain[0].allowsDigitalSignature)
        #expect(Set(["s3.amazonaws.com", "api.amazon.com"]).isSubset(of: authority.server.chain[0].dnsNames))
        #expect(
            try Authority(now: Self.now).anchors().judge(
                leaf: authority.signing.chain[0], intermediates: Array(authority.signing.chain.dropFirst()),
                at: Self.now)
                != .trusted)
    }

    @Test("every planted fault is there, and only where it is said to be", arguments: ChainFault.allCases)
    func faults(fault: ChainFault) throws {
        let authority = try Authority(now: Self.now)
        let identity = try authority.signing(with: fault, now: Self.now)
        let leaf = identity.chain[0]
        let verdict = try authority.anchors().judge(
            leaf: leaf, intermediates: Array(identity.chain.dropFirst()), at: Self.now)
        #expect(identity.key.publicKey.pem == leaf.publicKey.pem)
        #expect(leaf.allowsDigitalSignature == (fault != .noDigitalSignature))
        let lacksName: Set<ChainFault> = [.wrongName, .nameInSubjectOnly, .embeddedNUL]
        #expect(leaf.dnsNames.contains(Authority.signerName) == !lacksName.contains(fault))
        switch fault {
        case .expired: #expect(verdict == .expired)
        case .notYetValid: #expect(verdict == .notYetValid)
        case .untrustedRoot, .intermediateIsNoAuthority, .missingIntermediate:
            guard case .untrusted = verdict else {
                Issue.record("\(verdict)")
                return
            }
        default: #expect(verdict == .trusted)
        }
    }

    @Test("a folder gives the same authority again, and only its owner can read the keys")
    func folder() async throws {
        try await withFolder { folder in
            let first = try Authority.load(folder: folder, now: Self.now)
            let second = try Authority.load(folder: folder, now: Self.now.adding(seconds: Self.day))
            #expect(first.root.pem == second.root.pem)
            #expect(first.signing.pem == second.signing.pem)
            #expect(first.server.key.pem == second.server.key.pem)
            #expect(try Data(contentsOf: URL(filePath: folder + "/" + Authority.rootFile)) == Data(first.root.pem))
            for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
                let mode = try FileManager.default.attributesOfItem(atPath: folder + "/" + name)[.posixPermissions]
                let bits = try #require(mode as? Int ?? (mode as? UInt16).map(Int.init))
                let isPublic = [Authority.rootFile, Authority.serverFile, "signing.pem"].contains(name)
                #expect(bits & 0o077 == 0 || isPublic, "\(name) \(bits)")
            }
        }
    }

    @Test("certificates near their end are made anew under the same root; the root near its end with all the rest")
    func renewal() async throws {
        try await withFolder { folder in
            let first = try Authority.load(folder: folder, now: Self.now)
            let later = try Authority.load(folder: folder, now: Self.now.adding(seconds: 340 * Self.day))
            #expect(later.root.pem == first.root.pem)
            #expect(later.signing.pem != first.signing.pem)
            #expect(later.signing.chain[0].notAfter > first.signing.chain[0].notAfter)
            let atLast = try Authority.load(folder: folder, now: Self.now.adding(seconds: 3640 * Self.day))
            #expect(atLast.root.pem != first.root.pem)
        }
    }

    @Test(
        "a damaged file, or a key of another pair, is replaced",
        arguments: [
            "signing.pem", "signing-key.pem", "server.pem", "server-key.pem", "authority-key.pem", "authority.pem",
        ])
    func damaged(name: String) async throws {
        try await withFolder { folder in
            let first = try Authority.load(folder: folder, now: Self.now)
            try Data("damaged".utf8).write(to: URL(filePath: folder + "/" + name))
            let second = try Authority.load(folder: folder, now: Self.now)
            #expect((second.root.pem == first.root.pem) == !name.hasPrefix("authority"))
            let leaf = second.signing.chain[0]
            #expect(second.signing.key.publicKey.pem == leaf.publicKey.pem)
            let verdict = try second.anchors().judge(
                leaf: leaf, intermediates: Array(second.signing.chain.dropFirst()), at: Self.now)
            #expect(verdict == .trusted)
            #expect(try Authority.load(folder: folder, now: Self.now).signing.pem == second.signing.pem)
        }
    }

    @Test("several at once get one authority", .timeLimit(.minutes(5)))
    func concurrent() async throws {
        try await withFolder { folder in
            let roots = try await withThrowingTaskGroup(of: [UInt8].self) { group in
                for _ in 0..<2 {
                    group.addTask { try Authority.load(folder: folder, now: Self.now).signing.pem }
                }
                return try await group.reduce(into: Set<[UInt8]>()) { $0.insert($1) }
            }
            #expect(roots.count == 1)
        }
    }

    @Test("a folder that cannot be made is an error that names it")
    func unwritable() async throws {
        try await withFolder { folder in
            try Data().write(to: URL(filePath: folder))
            let error = #expect(throws: AuthorityError.self) {
                try Authority.load(folder: folder + "/inner", now: Self.now)
            }
            #expect(error?.message.contains(folder) == true)
        }
    }
}
