#!/usr/bin/env bash
# lock.sh [NAME...]: write recipes/NAME.txt, the packages of recipes/NAME.in and what they need with Python 3.11. Each has
# the SHA-256 sums of its wheels for Python 3.11 to 3.14 on Linux x86_64. It needs uv (https://docs.astral.sh/uv/). Without
# a name it writes all.
#
# recipes/excludes lists packages that are left out everywhere, and recipes/NAME.excludes packages that one engine leaves out: they are for
# GPUs, or not needed by what is run here. recipes/NAME.override has requirements that take the place of those in packages.
set -euo pipefail
cd "$(dirname "$0")/recipes"
if [ $# = 0 ]; then for file in *.in; do set -- "$@" "${file%.in}"; done; fi
tmp=$(mktemp -d)
trap 'rm -r "$tmp"' EXIT
compile=(uv pip compile --quiet --no-header --no-annotate --python-platform x86_64-manylinux_2_34)
for name in "$@"; do
  options=(--excludes excludes)
  if [ -e "$name.excludes" ]; then options+=(--excludes "$name.excludes"); fi
  if [ -e "$name.override" ]; then options+=(--override "$name.override"); fi
  "${compile[@]}" --python-version 3.11 "${options[@]}" --generate-hashes "$name.in" -o "$name.txt"
  # The list has the sums of all files of each package, for all platforms. A pylock.toml has the names of those for one.
  for python in 3.11 3.12 3.13 3.14; do
    rm -f "$tmp/pylock.toml"
    # A package may have no wheel for a newer Python; uv says so.
    "${compile[@]}" --python-version "$python" --no-deps --format pylock.toml "$name.txt" -o "$tmp/pylock.toml" || [ "$python" != 3.11 ] || exit 1
    grep -sF .whl "$tmp/pylock.toml" || true
  done | grep -oE '\b[0-9a-f]{64}\b' >"$tmp/sums"
  awk 'NR == FNR { keep[$1]; next }
    { sub(/ \\$/, "") }
    /^ *--hash=/ { sum = $0; sub(/.*:/, "", sum); if (sum in keep) printf " \\\n%s", $0; next }
    { printf "%s%s", FNR == 1 ? "" : "\n", $0 }
    END { print "" }' "$tmp/sums" "$name.txt" >"$tmp/list"
  cat "$tmp/list" >"$name.txt"
done
