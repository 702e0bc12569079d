#!/usr/bin/env bash
# Everything that must hold before a change lands: format, build, tests, documentation, linkage, live samples.
# With --thorough, all tests run once more under the thread and the address sanitizer.
set -euo pipefail
cd "$(dirname "$0")/.."

thorough=false
for argument in "$@"; do
    case $argument in
        --thorough) thorough=true ;;
        *) echo "usage: bash config/test.sh [--thorough]" >&2; exit 2 ;;
    esac
done

source config/packages.sh
step() { printf '\n== %s (%s s)\n' "$1" "$SECONDS"; }

step "Format"
swift format lint --strict --parallel --recursive Sources Tests Package.swift

step "Build and tests"
swift build --build-tests
bash config/python.sh || echo "The tests with Authlib are skipped: its packages cannot be had." >&2
# One module after another and four tests at a time: all would start at once, and on two cores a sign-in or a browser
# would then wait longer than it may.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=${SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH:-4}
for folder in Tests/*Tests; do
    swift test --skip-build --disable-xctest --filter "^$(basename "$folder")\."
done

step "Documentation"
bash config/documentation.sh

# A crash under the thread sanitizer can hang in the backtracer, hence both settings.
thread_sanitizer() {
    SKILLGATE_THREAD_SANITIZER=1 SWIFT_BACKTRACE=enable=no timeout 1800 \
        swift test --scratch-path .build/thread --sanitize thread --disable-xctest "$@"
}
if $thorough; then
    step "Thread sanitizer over all tests"
    thread_sanitizer
    step "Address sanitizer over all tests"
    LSAN_OPTIONS="suppressions=$PWD/config/leak-suppressions.txt:print_suppressions=0" SWIFT_BACKTRACE=enable=no \
        timeout 1800 swift test --scratch-path .build/address --sanitize address --disable-xctest
else
    step "Thread sanitizer over store, transport and events"
    for tests in ConcurrencyTests StorageTests TransportTests EventWorkerTests EventLoopTests GrantRefreshingTests LeaseTests; do
        thread_sanitizer --filter "$tests"
    done
fi

step "Release build and linkage"
swift build -c release --product skillgate
program=$(swift build -c release --show-bin-path)/skillgate
if ldd "$program" | grep -E 'libFoundation\.so|ICU'; then
    echo "The program links the full Foundation, which brings ICU: import FoundationEssentials instead." >&2
    exit 1
fi

step "Samples against a live service"
bash config/run.sh --once --port 0

step "Done"
