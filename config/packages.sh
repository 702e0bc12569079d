# Sourced by run.sh and test.sh: installs what is missing on Debian 12, saying what and why.

# need WHY PACKAGE...: notes the packages that are not installed.
missing=()
need() {
    local why=$1 package
    shift
    for package in "$@"; do
        if ! dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed'; then
            missing+=("$package")
            printf 'installing %-22s %s\n' "$package" "$why"
        fi
    done
}

install_missing() {
    [ ${#missing[@]} -eq 0 ] && return
    local as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || { echo "Installing these needs root or sudo." >&2; exit 2; }
        as_root=(sudo)
    fi
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -q >/dev/null
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"
    missing=()
}

command -v dpkg-query >/dev/null || { echo "This script installs Debian packages, and this is no Debian." >&2; exit 2; }

need "Swift: assembler and linker" binutils gcc
need "Swift: headers of the C and C++ libraries" libc6-dev libstdc++-12-dev
need "Swift: its package manager" git libcurl4 libedit2 libncurses6 libsqlite3-0 libxml2 pkg-config zlib1g-dev
need "Swift: time zones" tzdata
need "roots of trust for outgoing TLS" ca-certificates
need "event loops, listeners, TLS for the server" libevent-dev
need "HTTP parser, as C sources" node-llhttp
need "HTTP client" libcurl4-openssl-dev
need "JSON parser" libsimdjson-dev
need "embedded store" libsqlite3-dev
need "cryptography and certificates" libssl-dev
need "tests: the forwarder to copy" python3
need "tests: an OAuth client from elsewhere" python3-venv
need "tests: pages in a browser" chromium chromium-driver
install_missing

command -v swift >/dev/null || {
    echo "No swift on the PATH: install the Swift 6.3 toolchain for Debian 12 from https://www.swift.org/install first." >&2
    exit 2
}
