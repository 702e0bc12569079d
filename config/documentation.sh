#!/usr/bin/env bash
# Builds the documentation of every library into .build/documentation, out of the debug build; a link that leads
# nowhere is an error.
set -euo pipefail
cd "$(dirname "$0")/.."

built=$(swift build --show-bin-path)
target=.build/documentation
c_modules=()
for map in Sources/CLibraries/*/module.modulemap "$built"/C*.build/module.modulemap; do
    c_modules+=(-Xcc "-fmodule-map-file=$map")
done
rm -rf "$target"
for folder in Sources/*/; do
    module=$(basename "$folder")
    # The programs document themselves by --help.
    case $module in CLibraries | skillgate | benchmark) continue ;; esac
    mkdir -p "$target/$module/graphs" "$target/$module/$module.docc"
    swift symbolgraph-extract -module-name "$module" -target "$(uname -m)-unknown-linux-gnu" \
        -I "$built/Modules" "${c_modules[@]}" -minimum-access-level public \
        -output-dir "$target/$module/graphs" >/dev/null
    if [ -d "$folder$module.docc" ]; then cp -r "$folder$module.docc/." "$target/$module/$module.docc/"; fi
    docc convert "$target/$module/$module.docc" --fallback-display-name "$module" \
        --fallback-bundle-identifier "skillgate.$module" --additional-symbol-graph-dir "$target/$module/graphs" \
        --output-path "$target/$module/$module.doccarchive" --warnings-as-errors
done
echo "documentation of $(find "$target" -maxdepth 2 -name '*.doccarchive' | wc -l) libraries: $target"
