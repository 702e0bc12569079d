import Alexa
import Concurrency
import Crypto
import HTTP
import JSON
import TestSupport
import Testing
import Time

@Suite("Certificate chains", .timeLimit(.minutes(5))) struct CertificateChainsTests {
    private func url(_ number: Int) throws -> CertificateURL {
        try CertificateURL("https://s3.amazonaws.com/echo.api/c\(number).pem")
    }

    private func rejection(
        _ chains: CertificateChains, _ url: CertificateURL, _ deadline: Deadline
    ) async -> RequestRejection? {
        do {
            _ = try await chains.chain(for: url, by: deadline)
            return nil
        } catch { return error }
    }

    @Test("Callers that want one address at once share one fetch")
    func singleFlight() async throws {
        let (clock, gate) = (ManualClock(), Gate())
        let pem = try VerificationBench.signer.get().pem
        let http = RecordingHTTPClient { _, _ in
            await gate.pass()
            return HTTPResponse(status: 200, body: pem)
        }
        let chains = CertificateChains(
            http: http, anchors: try VerificationBench.authority.get().anchors, clock: clock.wall,
            monotonic: clock.monotonic)
        let wanted = try url(1)
        let callers = (0..<10).map { _ in
            Task.immediate { await self.rejection(chains, wanted, clock.deadline()) }
        }
        await gate.arrivals(1)
        gate.open()
        for caller in callers { #expect(await caller.value == nil) }
        #expect(http.requests.count == 1)
    }

    @Test("Four fetches run at once; a fifth address is refused, and taken when there is room")
    func fetchesAtOnce() async throws {
        let (clock, gate) = (ManualClock(), Gate())
        let pem = try VerificationBench.signer.get().pem
        let http = RecordingHTTPClient { _, _ in
            await gate.pass()
            return HTTPResponse(status: 200, body: pem)
        }
        let chains = CertificateChains(
            http: http, anchors: try VerificationBench.authority.get().anchors, clock: clock.wall,
            monotonic: clock.monotonic)
        let urls = try (0..<5).map { try url($0) }
        let callers = urls.prefix(4).map { url in Task { await self.rejection(chains, url, clock.deadline()) } }
        await gate.arrivals(4)
        #expect(await rejection(chains, urls[4], clock.deadline()) == .chainUnavailable(.tooManyFetches))
        gate.open()
        for caller in callers { #expect(await caller.value == nil) }
        #expect(await rejection(chains, urls[4], clock.deadline()) == nil)
    }

    @Test("Sixty unknown addresses a minute are fetched; known ones always are")
    func unknownAddresses() async throws {
        let bench = try VerificationBench()
        let known = try CertificateURL(TestSigner.usualURL)
        #expect(await rejection(bench.chains, known, bench.clock.deadline()) == nil)
        for number in 1..<60 {
            #expect(
                await rejection(bench.chains, try url(number), bench.clock.deadline())
                    == .chainUnavailable(.status(403)))
        }
        #expect(bench.http.requests.count == 60)
        let more = try url(60)
        #expect(await rejection(bench.chains, more, bench.clock.deadline()) == .chainUnavailable(.tooManyFetches))
        #expect(bench.http.requests.count == 60)
        // The known chain runs out, and is asked for again in spite of the limit.
        bench.clock.set(try VerificationBench.authority.get().validity.upperBound.adding(seconds: 1))
        #expect(await rejection(bench.chains, known, bench.clock.deadline()) == .certificateExpired)
        #expect(bench.http.requests.count == 61)
        bench.clock.advance(by: .seconds(60))
        #expect(await rejection(bench.chains, more, bench.clock.deadline()) == .chainUnavailable(.status(403)))
    }

    @Test("An address that failed is left alone for 30 seconds")
    func pause() async throws {
        let bench = try VerificationBench()
        let missing = try url(1)
        #expect(await rejection(bench.chains, missing, bench.clock.deadline()) == .chainUnavailable(.status(403)))
        bench.clock.advance(by: .milliseconds(29_999))
        #expect(await rejection(bench.chains, missing, bench.clock.deadline()) == .chainUnavailable(.failedRecently))
        #expect(bench.http.requests.count == 1)
        bench.clock.advance(by: .milliseconds(1))
        #expect(await rejection(bench.chains, missing, bench.clock.deadline()) == .chainUnavailable(.status(403)))
        #expect(bench.http.requests.count == 2)
    }

    @Test("A fetch gets two seconds, and never more than the caller has left")
    func deadlines() async throws {
        let bench = try VerificationBench()
        _ = await rejection(bench.chains, try url(1), bench.clock.deadline(in: .seconds(7)))
        _ = await rejection(bench.chains, try url(2), bench.clock.deadline(in: .milliseconds(500)))
        let left = bench.http.deadlines.map { $0.remaining(at: bench.clock.instant) }
        #expect(left == [.seconds(2), .milliseconds(500)])
    }

    @Test("A fetch that the caller's own deadline cut does not count against the address")
    func cutShort() async throws {
        let clock = ManualClock()
        let pem = try VerificationBench.signer.get().pem
        let isFirst = Locked(true)
        let http = RecordingHTTPClient { _, _ throws(HTTPClientError) in
            if isFirst.withLock({ first in
                defer { first = false }
                return first
            }) {
                clock.advance(by: .milliseconds(500))
                throw .timedOut
            }
            return HTTPResponse(status: 200, body: pem)
        }
        let chains = CertificateChains(
            http: http, anchors: try VerificationBench.authority.get().anchors, clock: clock.wall,
            monotonic: clock.monotonic)
        let wanted = try url(1)
        #expect(
            await rejection(chains, wanted, clock.deadline(in: .milliseconds(500))) == .chainUnavailable(.timedOut))
        #expect(await rejection(chains, wanted, clock.deadline()) == nil)
    }

    static let answers: [(Result<HTTPResponse, HTTPClientError>, RequestRejection.ChainFault)] = [
        (.success(HTTPResponse(status: 200)), .empty),
        (.success(HTTPResponse(status: 200, body: Array("<html></html>".utf8))), .unreadable),
        (.success(HTTPResponse(status: 200, body: [UInt8](repeating: 10, count: 65_537))), .tooLarge),
        (
            .success(HTTPResponse(status: 301, fields: ["Location": "https://s3.amazonaws.com/echo.api/c"])),
            .status(301)
        ),
        (.success(HTTPResponse(status: 302)), .status(302)), (.success(HTTPResponse(status: 404)), .status(404)),
        (.success(HTTPResponse(status: 206)), .status(206)), (.success(HTTPResponse(status: 503)), .status(503)),
        (.failure(.unreachable("")), .unreachable), (.failure(.broken("")), .unreachable),
        (.failure(.tls("")), .tls), (.failure(.timedOut), .timedOut), (.failure(.answerTooLarge), .tooLarge),
        (.failure(.cancelled), .cancelled),
    ]

    @Test("Whatever the host answers, the reason is told and nothing is kept", arguments: answers)
    func faults(answer: Result<HTTPResponse, HTTPClientError>, fault: RequestRejection.ChainFault) async throws {
        let clock = ManualClock()
        let http = RecordingHTTPClient(inTurn: [answer])
        let chains = CertificateChains(
            http: http, anchors: try VerificationBench.authority.get().anchors, clock: clock.wall,
            monotonic: clock.monotonic)
        #expect(await rejection(chains, try url(1), clock.deadline()) == .chainUnavailable(fault))
        #expect(chains.kept(for: try url(1), at: clock.now) == nil)
        #expect(http.requests.map(\.method) == [.get])
        #expect(http.requests.map(\.answerLimitBytes) == [65_536])
    }

    @Test("A chain that fails a check is refused with that check's reason, and not kept")
    func judged() async throws {
        let authority = try VerificationBench.authority.get()
        let (early, late) = (authority.validity.lowerBound, authority.validity.upperBound)
        let now = ManualClock.start
        let rows: [(TestSigner, RequestRejection)] = [
            (try authority.signer { $0.notAfter = now.adding(seconds: -1) }, .certificateExpired),
            (try authority.signer { $0.notBefore = now.adding(seconds: 1) }, .certificateNotYetValid),
            (try authority.signer { $0.keyUsage = [.keyEncipherment] }, .certificateUsage),
            (try authority.signer(for: ["example.test"]), .certificateName),
        ]
        for (signer, expected) in rows {
            #expect(throws: expected) {
                try SigningChain(pem: signer.pem, anchors: try authority.anchors, at: now)
            }
        }
        let stranger = try TestAuthority(named: "Stranger").signer()
        let rejection = #expect(throws: RequestRejection.self) {
            try SigningChain(pem: stranger.pem, anchors: try authority.anchors, at: now)
        }
        #expect(rejection?.reasonCode == "verification.chainUntrusted")
        let good = try SigningChain(
            pem: VerificationBench.signer.get().pem, anchors: try authority.anchors, at: now)
        #expect(good.certificates.count == 2)
        // OpenSSL counts the last second itself as over.
        for edge in [early, late.adding(seconds: -1)] {
            #expect(throws: Never.self) {
                try SigningChain(pem: VerificationBench.signer.get().pem, anchors: try authority.anchors, at: edge)
            }
        }
    }

    @Test("A certificate in the bundle that the path does not need may be out of date")
    func superfluousCertificate() async throws {
        let authority = try VerificationBench.authority.get()
        let signer = try VerificationBench.signer.get()
        let old = try authority.signer(for: ["old.example.test"]) {
            $0.notAfter = ManualClock.start.adding(seconds: 60)
        }
        let pem = signer.pem + old.certificates[0].pem
        let bench = VerificationBench(
            [TestSigner.usualURL: HTTPResponse(status: 200, body: pem)], anchors: try authority.anchors)
        let address = try CertificateURL(TestSigner.usualURL)
        #expect(await rejection(bench.chains, address, bench.clock.deadline()) == nil)
        bench.clock.advance(by: .seconds(120))
        #expect(bench.chains.kept(for: address, at: bench.clock.now) != nil)
    }

    @Test("At most as many chains are kept as the limit says, the latest used ones")
    func bounded() async throws {
        let pem = try VerificationBench.signer.get().pem
        let clock = ManualClock()
        var limits = CertificateChains.Limits()
        #expect(limits.chains == 64)
        limits.chains = 2
        let http = RecordingHTTPClient { _, _ in HTTPResponse(status: 200, body: pem) }
        let chains = CertificateChains(
            http: http, anchors: try VerificationBench.authority.get().anchors, clock: clock.wall,
            monotonic: clock.monotonic, limits: limits)
        for number in [1, 2, 1, 3] {
            #expect(await rejection(chains, try url(number), clock.deadline()) == nil)
        }
        let kept = try [1, 2, 3].map { chains.kept(for: try url($0), at: clock.now) != nil }
        #expect(kept == [true, false, true])
    }
}
