import Telemetry
import Testing

@Suite("Metrics")
struct MetricsTests {
    @Test("counters, gauges and histograms show in Prometheus's text format")
    func rendering() {
        let metrics = Metrics()
        metrics.counter(.requests, "/alexa/custom", "200").add()
        metrics.counter(.requests, "/alexa/custom", "200").add(2)
        metrics.counter(.requests, "/v1/me", "401").add()
        metrics.gauge(.connectionsOpen).set(7)
        metrics.gauge(.connectionsOpen).add(-2)
        metrics.histogram(.requestDurationSeconds, "/v1/me").observe(.milliseconds(3))
        metrics.histogram(.requestDurationSeconds, "/v1/me").observe(.seconds(60))
        let lines = metrics.prometheusText.split(separator: "\n")
        for line in [
            "# TYPE skillgate_requests_total counter",
            #"skillgate_requests_total{route="/alexa/custom",status="200"} 3"#,
            #"skillgate_requests_total{route="/v1/me",status="401"} 1"#,
            "# TYPE skillgate_connections_open gauge", "skillgate_connections_open 5",
            "# TYPE skillgate_request_duration_seconds histogram",
            #"skillgate_request_duration_seconds_bucket{route="/v1/me",le="0.001"} 0"#,
            #"skillgate_request_duration_seconds_bucket{route="/v1/me",le="0.005"} 1"#,
            #"skillgate_request_duration_seconds_bucket{route="/v1/me",le="7"} 1"#,
            #"skillgate_request_duration_seconds_bucket{route="/v1/me",le="+Inf"} 2"#,
            #"skillgate_request_duration_seconds_sum{route="/v1/me"} 60.003"#,
            #"skillgate_request_duration_seconds_count{route="/v1/me"} 2"#,
            "skillgate_log_lines_dropped_total 0",
        ] {
            #expect(lines.contains { $0 == line }, "\(line)")
        }
        #expect(metrics.prometheusText.hasSuffix("\n"))
    }

    @Test("every name has its unit, its help and its type exactly once")
    func names() {
        let lines = Metrics().prometheusText.split(separator: "\n")
        let names =
            CounterName.allCases.map(\.rawValue) + GaugeName.allCases.map(\.rawValue)
            + HistogramName.allCases.map(\.rawValue)
        #expect(Set(names).count == names.count)
        for name in names {
            #expect(lines.count { $0.hasPrefix("# HELP \(name) ") } == 1)
            #expect(lines.count { $0.hasPrefix("# TYPE \(name) ") } == 1)
            #expect(name.hasPrefix("skillgate_"))
        }
        #expect(CounterName.allCases.allSatisfy { $0.rawValue.hasSuffix("_total") })
        #expect(HistogramName.allCases.allSatisfy { $0.rawValue.hasSuffix("_seconds") })
    }

    @Test("a label's number of values is bounded; the rest is counted as other")
    func labelLimit() {
        let metrics = Metrics()
        for number in 0..<1000 { metrics.counter(.rejections, "reason-\(number)").add() }
        let lines = metrics.prometheusText.split(separator: "\n").filter { $0.hasPrefix("skillgate_rejections_total{") }
        #expect(lines.count == Metrics.labelLimit + 1)
        #expect(lines.contains(#"skillgate_rejections_total{reason="other"} 900"#))
    }

    @Test(
        "a label's value is escaped and cut",
        arguments: [
            (#"a"b"#, #"a\"b"#), (#"a\b"#, #"a\\b"#), ("a\nb", #"a\nb"#), ("a\rb", "a?b"), ("a\u{1B}b", "a?b"),
            (String(repeating: "x", count: 90), String(repeating: "x", count: 63) + "…"),
        ])
    func labelText(value: String, shown: String) {
        let metrics = Metrics()
        metrics.counter(.rejections, value).add()
        #expect(metrics.prometheusText.contains("skillgate_rejections_total{reason=\"\(shown)\"} 1\n"))
    }

    @Test("no addition of many threads is lost", .timeLimit(.minutes(5)))
    func threads() async {
        let metrics = Metrics()
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    for count in 0..<1000 {
                        metrics.counter(.requests, "/", "\(200 + count % 3)").add()
                        metrics.histogram(.upstreamDurationSeconds, "o").observe(0.5)
                    }
                }
            }
        }
        #expect((200...202).reduce(0) { $0 + metrics.counter(.requests, "/", "\($1)").value } == 8000)
        #expect(metrics.histogram(.upstreamDurationSeconds, "o").count == 8000)
        #expect(metrics.prometheusText.contains(#"skillgate_upstream_duration_seconds_sum{origin="o"} 4000"# + "\n"))
    }

    @Test("an observation that is no number is left out")
    func odd() {
        let metrics = Metrics()
        let histogram = metrics.histogram(.timestampRejectionDifferenceSeconds)
        for value in [Double.nan, .infinity, -.infinity] { histogram.observe(value) }
        #expect(histogram.count == 0)
        histogram.observe(-160)
        #expect(
            metrics.prometheusText.contains(
                #"skillgate_timestamp_rejection_difference_seconds_bucket{le="-150"} 1"# + "\n"))
        #expect(metrics.prometheusText.contains("skillgate_timestamp_rejection_difference_seconds_sum -160\n"))
    }
}
