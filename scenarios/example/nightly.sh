#!/bin/sh
# nightly.sh COMMAND: runs the shell command COMMAND, which prints the results of the benchmarks that the pattern $BENCH matches,
# keeps them in the branch "benchmarks" of the repository, and compares them with all nights before. A series that is out of line
# is measured again, by the same command. The folder nightly gets run.txt, issue.md, index.html and feed.xml. Exit status: 0 nothing
# changed, 1 an alarm, 2 cannot judge.
#
# Variables: BENCH, the pattern of the benchmarks (.); MACHINE, the name of the machine or of a kind of equal machines (the host's name);
# BRANCH (benchmarks); REMOTE, the repository that has the branch (origin); BENCHGATE, the program (go tool benchgate).
set -eu
command=${1:?want a command that prints results}
export BENCH="${BENCH:-.}"
benchgate=${BENCHGATE:-$(go tool -n benchgate)}
mkdir -p nightly
rm -f nightly/*
sh -c "$command" >nightly/run.txt || {
  echo "the command failed with status $?: its results become no baseline" >&2
  printf '\nFAIL\n' >>nightly/run.txt # a command that was killed has not said so
}
history() {
  name=$1
  shift
  "$benchgate" history "$name" -git="${BRANCH:-benchmarks}" -remote="${REMOTE:-}" "$@"
}
run=$(history add -machine="${MACHINE:-$(uname -n)}" nightly/run.txt)
status=0
history check -run="$run" -markdown -rerun="$command" >nightly/issue.md || status=$?
history show -o nightly/index.html -atom nightly/feed.xml
exit "$status"
