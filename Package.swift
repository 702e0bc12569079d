// swift-tools-version: 6.3
import PackageDescription

/// Set by `config/test.sh` for builds under the thread sanitizer, which does not see `Synchronization.Mutex`.
let threadSanitizer = Context.environment["SKILLGATE_THREAD_SANITIZER"] == "1"

let swiftSettings: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("InferIsolatedConformances"),
        .enableUpcomingFeature("ImmutableWeakCaptures"),
        .strictMemorySafety(),
        .treatAllWarnings(as: .error),
    ] + (threadSanitizer ? [.define("THREAD_SANITIZER")] : [])

/// A library or program of this package, under `Sources/`.
func module(_ name: String, imports: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: imports, path: "Sources/\(name)", swiftSettings: swiftSettings)
}

/// A C library from Debian, under `Sources/CLibraries/`.
func library(_ name: String, package: String) -> Target {
    .systemLibrary(name: name, path: "Sources/CLibraries/\(name)", providers: [.apt([package])])
}

/// The tests of one module, under `Tests/`.
///
/// Functions named in `replaces` stand before those of the system's libraries, for all of the test program.
func tests(of name: String, imports: [Target.Dependency] = [], replaces functions: [String] = []) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: [.byName(name: name)] + imports, path: "Tests/\(name)Tests",
        swiftSettings: swiftSettings,
        linkerSettings: functions.map { .unsafeFlags(["-Xlinker", "--export-dynamic-symbol=\($0)"]) })
}

let package = Package(
    name: "skillgate",
    // The service runs on Linux; these are for apps that link AppLinking.
    platforms: [.iOS(.v15), .macOS(.v12)],
    products: [
        .executable(name: "skillgate", targets: ["skillgate"]),
        .library(name: "Alexa", targets: ["Alexa"]),
        .library(name: "OAuth", targets: ["OAuth"]),
        .library(name: "Service", targets: ["Service"]),
        .library(name: "AppLinking", targets: ["AppLinking"]),
    ],
    targets: [
        library("CEvent", package: "libevent-dev"),
        library("CCurl", package: "libcurl4-openssl-dev"),
        library("CSQLite", package: "libsqlite3-dev"),
        library("COpenSSL", package: "libssl-dev"),
        // Strict: else the parser takes any two bytes for the line end after a chunk.
        .target(
            name: "CLLHTTP", path: "Sources/CLibraries/CLLHTTP",
            cSettings: [.define("LLHTTP_STRICT_MODE", to: "1")]),
        .target(
            name: "CCrypto", dependencies: ["COpenSSL"], path: "Sources/CLibraries/CCrypto",
            linkerSettings: [.linkedLibrary("crypto"), .linkedLibrary("ssl")]),
        .target(
            name: "CSimdjson", path: "Sources/CLibraries/CSimdjson",
            linkerSettings: [.linkedLibrary("simdjson"), .linkedLibrary("stdc++")]),

        module("Concurrency"),
        module("Time"),
        module("HTTP", imports: ["Concurrency", "Time"]),
        module("JSON", imports: ["Concurrency", "CSimdjson"]),
        module("Crypto", imports: ["Concurrency", "Time", "CCrypto", "COpenSSL"]),
        module("Telemetry", imports: ["Concurrency", "JSON", "Time"]),
        module("LinkMessages"),
        module("Alexa", imports: ["Concurrency", "Crypto", "HTTP", "JSON", "Time"]),
        module("OAuth", imports: ["Concurrency", "Crypto", "HTTP", "JSON", "LinkMessages", "Time"]),
        module(
            "Storage",
            imports: ["Alexa", "Concurrency", "Crypto", "JSON", "OAuth", "Telemetry", "Time", "CSQLite"]),
        module(
            "Transport",
            imports: [
                "Concurrency", "Crypto", "HTTP", "JSON", "Telemetry", "Time", "CEvent", "CLLHTTP", "CCurl", "COpenSSL",
            ]),
        module(
            "Service",
            imports: [
                "Alexa", "Concurrency", "Crypto", "HTTP", "JSON", "LinkMessages", "OAuth", "Telemetry", "Time",
            ]),
        module("AppLinking", imports: ["LinkMessages"]),
        module(
            "Simulator",
            imports: [
                "Alexa", "Concurrency", "Crypto", "HTTP", "JSON", "LinkMessages", "OAuth", "Telemetry", "Time",
                "Transport",
            ]),
        .executableTarget(
            name: "skillgate",
            dependencies: [
                "Alexa", "Concurrency", "Crypto", "HTTP", "JSON", "OAuth", "Service", "Simulator", "Storage",
                "Telemetry", "Time", "Transport",
            ], path: "Sources/skillgate", swiftSettings: swiftSettings),

        .executableTarget(
            name: "benchmark",
            dependencies: [
                "Concurrency", "Crypto", "HTTP", "OAuth", "Service", "Simulator", "Storage", "Telemetry", "Time",
                "Transport",
            ], path: "Sources/benchmark", swiftSettings: swiftSettings),

        .target(
            name: "TestSupport",
            dependencies: [
                "Alexa", "Concurrency", "Crypto", "HTTP", "JSON", "OAuth", "Service", "Simulator", "Storage",
                "Telemetry", "Time", "Transport", "COpenSSL",
            ], path: "Tests/TestSupport", swiftSettings: swiftSettings),
        tests(of: "Concurrency", imports: ["Time"]),
        tests(of: "Time"),
        tests(of: "HTTP", imports: ["Time"]),
        tests(of: "JSON", imports: ["TestSupport"]),
        tests(of: "Crypto", imports: ["JSON", "TestSupport", "Time"]),
        tests(of: "Telemetry", imports: ["Concurrency", "JSON", "Time"]),
        tests(of: "LinkMessages", imports: ["JSON", "TestSupport"]),
        tests(of: "AppLinking", imports: ["Concurrency", "JSON", "LinkMessages", "TestSupport"]),
        tests(of: "Alexa", imports: ["Concurrency", "Crypto", "HTTP", "JSON", "TestSupport", "Time"]),
        tests(of: "OAuth", imports: ["Concurrency", "Crypto", "HTTP", "JSON", "TestSupport", "Time"]),
        tests(
            of: "Storage", imports: ["Alexa", "Crypto", "JSON", "OAuth", "Telemetry", "TestSupport", "Time", "CSQLite"]),
        tests(
            of: "Transport",
            imports: ["Concurrency", "Crypto", "HTTP", "JSON", "Telemetry", "TestSupport", "Time"],
            // A look-up that hangs, as libcurl would meet it.
            replaces: ["getaddrinfo"]),
        tests(
            of: "Service",
            imports: [
                "Alexa", "AppLinking", "Concurrency", "Crypto", "HTTP", "JSON", "LinkMessages", "OAuth", "Simulator",
                "Storage", "Telemetry", "TestSupport", "Time",
            ]),
        tests(
            of: "Simulator",
            imports: [
                "Alexa", "Concurrency", "Crypto", "HTTP", "JSON", "OAuth", "Telemetry", "TestSupport", "Time",
                "Transport",
            ]),
        .testTarget(
            name: "skillgateTests",
            dependencies: [
                "Alexa", "Concurrency", "Crypto", "HTTP", "JSON", "OAuth", "Service", "Simulator", "Storage",
                "Telemetry", "TestSupport", "Time", "Transport", "skillgate",
            ], path: "Tests/skillgateTests", exclude: ["Authlib"], swiftSettings: swiftSettings),
    ],
    swiftLanguageModes: [.v6],
    cLanguageStandard: .gnu17,
    cxxLanguageStandard: .gnucxx17
)
