#!/bin/sh
# Prints the directory of MariaDB's own regression tests, fetched from the distribution's package into the user's cache.
set -eu
. "$(dirname "$0")/lib.sh"

home=$SKARV_CACHE/suite
if [ ! -d "$home/usr/share/mysql/mysql-test/main" ]; then
	work=$home.work
	rm -rf "$home" "$work"
	mkdir -p "$work" "$home"
	(cd "$work" && apt-get download mariadb-test-data >/dev/null) || die "the tests come from the Debian package mariadb-test-data"
	dpkg-deb -x "$work"/*.deb "$home"
	rm -rf "$work"
fi
echo "$home/usr/share/mysql/mysql-test"
