#!/usr/bin/env bash
# Builds Skillgate and runs its main job on the samples: signed Alexa requests over a socket, answered with what the
# provider holds for the linked user. Then the service goes on running; --once ends it, with the outcome as exit code.
set -euo pipefail
cd "$(dirname "$0")/.."

once=false
port=8080
while [ $# -gt 0 ]; do
    case $1 in
        --once) once=true ;;
        --port) port=${2:?"--port takes a number"}; shift ;;
        *) echo "usage: bash config/run.sh [--once] [--port N]" >&2; exit 2 ;;
    esac
    shift
done

source config/packages.sh
swift build -c release --product skillgate
skillgate=$(swift build -c release --show-bin-path)/skillgate

output=$(mktemp)
mkdir -p -m 700 .skillgate
log=.skillgate/service.log
"$skillgate" serve --config config/development.json5 --port "$port" >"$output" 2>"$log" &
service=$!
trap 'kill "$service" 2>/dev/null && wait "$service"; rm -f "$output"' EXIT
until address=$(sed -n 's/^listening on //p' "$output") && [ -n "$address" ]; do
    kill -0 "$service" 2>/dev/null || { cat "$log" >&2; echo "The service did not start." >&2; exit 1; }
    sleep 0.05
done
echo "The service listens on $address; Alexa's part is played by replay. Its log: $log"

outcome=0
"$skillgate" replay samples --sign --endpoint "$address" --user alice || outcome=$?
if $once; then exit "$outcome"; fi

echo "The service goes on at $address until you press Ctrl-C. Try again with:"
echo "  $skillgate replay samples/custom --sign --endpoint $address --user alice"
wait "$service"
