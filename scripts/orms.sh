#!/bin/sh
# Runs what Django and SQLAlchemy do (test/clients/python/orms.py) on a cluster of four node groups of its own. Brings both
# with pip, into the cache.   scripts/orms.sh BINARY [ENGINE]
set -eu
binary=$1 engine=${2:-mariadb}
here=$(dirname "$0")
venv=${SKARV_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/skarv}/orms
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/python" -c 'import django, sqlalchemy, pymysql' 2>/dev/null ||
	"$venv/bin/pip" install --quiet 'django<6' 'sqlalchemy<3' pymysql
dir=$(mktemp -d)
"$binary" dev --engine "$engine" --node-groups 4 --data-dir "$dir/data" --mysql-addr 127.0.0.1:0 --http-addr 127.0.0.1:0 \
	--admin-addr 127.0.0.1:0 --json >"$dir/ready" 2>"$dir/log" &
pid=$!
trap 'kill $pid; wait $pid || true; rm -rf "$dir"' EXIT
until [ -s "$dir/ready" ]; do
	kill -0 $pid || { cat "$dir/log"; exit 1; }
	sleep 0.2
done
port=$(sed 's/.*"mysql_addr":"[^"]*:\([0-9]*\)".*/\1/' "$dir/ready")
"$venv/bin/python" "$here/../test/clients/python/orms.py" 127.0.0.1 "$port"
