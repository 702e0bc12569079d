#!/usr/bin/env bash
# Builds Skillgate and runs all of it on this machine: the service and a simulated Amazon, a user who links an account by
# the real flow, and every sample as Alexa sends it. Then the service goes on running; --once ends it, with the outcome as
# exit code.
set -euo pipefail
cd "$(dirname "$0")/.."

once=()
port=8080
while [ $# -gt 0 ]; do
    case $1 in
        --once) once=(--once) ;;
        --port) port=${2:?"--port takes a number"}; shift ;;
        *) echo "usage: bash config/run.sh [--once] [--port N]" >&2; exit 2 ;;
    esac
    shift
done

source config/packages.sh
swift build -c release --product skillgate
exec "$(swift build -c release --show-bin-path)/skillgate" dev --port "$port" "${once[@]}"
