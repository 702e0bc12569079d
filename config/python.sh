#!/usr/bin/env bash
# Makes .build/python: the OAuth client from elsewhere that the tests send against the provider. Does nothing where it
# is there already. Tests/skillgateTests/Authlib/requirements.txt says which versions.
set -euo pipefail
cd "$(dirname "$0")/.."

wanted=Tests/skillgateTests/Authlib/requirements.txt
target=.build/python
mkdir -p .build
exec 9>.build/python.lock
flock 9
cmp -s "$wanted" "$target/requirements.txt" && exit 0
rm -rf "$target"
python3 -m venv "$target"
"$target/bin/pip" install --quiet --disable-pip-version-check --requirement "$wanted"
cp "$wanted" "$target/requirements.txt"
