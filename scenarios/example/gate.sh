#!/bin/sh
# gate.sh COMMIT [flags of benchgate ab]: compares the gateway of the working tree with the gateway of a commit, each in front
# of the same simulated server. Exit status: 0 pass, 1 regression, 2 cannot judge.
set -eu
cd "$(dirname "$0")"
base=${1:?want the commit to compare with}
shift
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
module=github.com/seed-2b9cec6d/llmbench
go build -o "$bin/" $module/mockserver/cmd/mockserver $module/llmbench/cmd/benchgate
status=0
LLMBENCH_API_KEY=key-of-a-tenant LLMBENCH_CONCURRENCY=${LLMBENCH_CONCURRENCY-1,8} "$bin/benchgate" ab -base "$base" \
  -build 'go build -o {out}/gateway ./cmd/gateway' \
  -command "$bin/mockserver -ttft 20ms -addr 127.0.0.1:{port} &
    GATEWAY_KEYS=key-of-a-tenant {out}/gateway -listen 127.0.0.1:{port} -upstream http://127.0.0.1:{upstream}" \
  "$@" -- -bench=Serve -benchtime=1x $module/scenarios || status=$?
exit $status
