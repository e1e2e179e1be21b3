#!/usr/bin/env bash
# gate.bash: what the action benchgate runs. Its inputs come in the environment: ARGS, BASE,
# FAIL_ON, FLAGS, N, NAME, REF, UNITS and VERSION, and GitHub's RUNNER_ARCH, RUNNER_OS, RUNNER_TEMP, GITHUB_SERVER_URL,
# GITHUB_STEP_SUMMARY and GITHUB_OUTPUT. It writes a summary and two outputs, whatever happens: status, the exit
# status of benchgate, and exit, the exit status of the job.
set -euo pipefail
out=$RUNNER_TEMP/$NAME status=0 why=
mkdir -p "$out"
rm -f "$out"/report.*

case "$FAIL_ON" in
  any | regression) ;;
  *) why="fail-on: $FAIL_ON: want any or regression" FAIL_ON=any ;;
esac

# On a pull request, HEAD is the merge of the pull request into its base.
if [ -z "$why" ] && [ -z "$BASE" ]; then
  BASE=$(git rev-parse --verify --quiet 'HEAD^1') ||
    why="HEAD has no parent in this clone: set \"fetch-depth: 2\" at actions/checkout, or the input base"
fi

# download: puts the binary of a release into the folder $1, if it has the release's checksum.
download() {
  local os arch file url=$GITHUB_SERVER_URL/seed-2b9cec6d/llmbench/releases/download/$VERSION
  case "$RUNNER_OS" in Linux) os=linux ;; macOS) os=darwin ;; Windows) os=windows ;; *) echo "no binary for $RUNNER_OS" && return 1 ;; esac
  case "$RUNNER_ARCH" in X64) arch=amd64 ;; ARM64) arch=arm64 ;; *) echo "no binary for $RUNNER_ARCH" && return 1 ;; esac
  file=benchgate-$os-$arch
  if [ $os = windows ]; then file+=.exe; fi
  mkdir -p "$1"
  for part in "$file" SHA256SUMS; do
    curl --fail --silent --show-error --location --retry 3 --max-time 300 --output "$1/$part" "$url/$part" 2>&1 || return 1
  done
  if ! (cd "$1" && grep -E "^[0-9a-f]{64} [ *]$file\$" SHA256SUMS | { sha256sum --check || shasum -a 256 --check; }) 2>&1; then
    echo "$url/$file does not have the checksum in SHA256SUMS"
    return 1
  fi
  mv "$1/$file" "$1/benchgate" && chmod +x "$1/benchgate"
}

# The program is run directly, because "go tool" and "go run" change exit statuses.
if [ -z "$why" ]; then
  program=$RUNNER_TEMP/benchgate-bin/benchgate
  if [ -n "$VERSION" ]; then
    log=$(download "$RUNNER_TEMP/benchgate-bin") || why="benchgate $VERSION cannot be downloaded: $log"
  elif tool=$(go tool -n benchgate 2>/dev/null) && [ -n "$tool" ]; then
    program=$tool
  else
    log=$(GOBIN=$RUNNER_TEMP/benchgate-bin go install "github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate@$REF" 2>&1) ||
      why="benchgate $REF cannot be installed: $log"
  fi
fi

if [ -z "$why" ]; then
  flags=(-base "$BASE" -n "$N" -out "$out")
  if [ -n "$UNITS" ]; then flags+=(-units "$UNITS"); fi
  while IFS= read -r flag; do if [ -n "$flag" ]; then flags+=("$flag"); fi; done <<<"$FLAGS"
  args=()
  while IFS= read -r arg; do if [ -n "$arg" ]; then args+=("$arg"); fi; done <<<"$ARGS"
  "$program" ab "${flags[@]}" -- "${args[@]}" || status=$?
  if [ ! -s "$out/report.md" ] || [ "$status" -gt 2 ]; then
    why="benchgate ended with status $status and without a report: the log of this job says why"
  fi
fi

if [ -n "$why" ]; then
  status=2
  echo "benchgate: $why" >&2
  printf 'cannot judge: %s\n' "$why" >"$out/report.txt"
  printf '### ⚠️ benchgate: cannot judge\n\n%s\n' "$(sed 's/^/    /' <<<"$why")" >"$out/report.md"
fi
exit=$status
if [ "$status" = 2 ] && [ "$FAIL_ON" = regression ]; then
  exit=0
  echo "::warning title=benchgate cannot judge::The job does not fail, because of \"fail-on: regression\". $(tail -n 1 "$out/report.txt")"
  printf '\nThe job does not fail, because of "fail-on: regression".\n' >>"$out/report.md"
fi
cat "$out/report.md" >>"$GITHUB_STEP_SUMMARY"
printf 'status=%s\nexit=%s\n' "$status" "$exit" >>"$GITHUB_OUTPUT"
