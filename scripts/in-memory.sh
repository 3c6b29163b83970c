#!/bin/sh
# Runs a command with its temporary files in memory, where there is room for them, and removes what it leaves there: servers under test write much,
# and would all wait for one disk. What go builds stays where it was.
set -eu
memory=/dev/shm
free=$(df -Pk "$memory" 2>/dev/null | awk 'NR == 2 {print $4}')
if [ ! -w "$memory" ] || [ "${free:-0}" -lt $((8 << 20)) ]; then # in KB; five servers of a test have about 1 GB
	exec "$@"
fi
for old in "$memory"/skarv-tests-*-*; do # of one that was killed
	pid=${old#"$memory"/skarv-tests-}
	[ ! -d "$old" ] || kill -0 "${pid%%-*}" 2>/dev/null || rm -rf "$old"
done
dir=$(mktemp -d "$memory/skarv-tests-$$-XXXXXX")
trap 'rm -rf "$dir"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
export GOTMPDIR="${GOTMPDIR:-${TMPDIR:-/tmp}}" TMPDIR="$dir"
"$@"
