#!/bin/sh
# Prints the directory of the regression tests that a server's authors run, fetched from Debian's package into the user's
# cache: "mariadb" (of the machine's own release) or "mysql" (of the release that scripts/install-mysql.sh takes the server from).
set -eu
. "$(dirname "$0")/lib.sh"

case ${1:-mariadb} in
mariadb) home=$SKARV_CACHE/suite suite=usr/share/mysql/mysql-test tests=main ;;
mysql) home=$SKARV_CACHE/suite-mysql suite=usr/lib/mysql-test tests=t ;;
*) die "there are tests of mariadb and of mysql, not of $1" ;;
esac
if [ ! -d "$home/$suite/$tests" ]; then
	work=$home.work
	rm -rf "$home" "$work" "$home.part"
	mkdir -p "$work/debs" "$home.part"
	if [ "$tests" = main ]; then
		(cd "$work/debs" && apt-get download mariadb-test-data >/dev/null) || die "the tests come from the Debian package mariadb-test-data"
		dpkg-deb -x "$work"/debs/*.deb "$home.part"
	else
		say "fetching MySQL's regression tests (about 340 MB, once)"
		sid_apt "$work/apt"
		(cd "$work/debs" && $APT download mysql-testsuite >&2) || die "the tests come from the Debian package mysql-testsuite"
		# The tests alone: not the programs, not the results that their authors expect.
		dpkg-deb --fsys-tarfile "$work"/debs/*.deb |
			tar -x -C "$home.part" --wildcards '*.test' '*.inc' "./$suite/std_data" || die "unpacking into $home.part failed"
	fi
	mv "$home.part" "$home" # whole, or not at all
	rm -rf "$work"
fi
echo "$home/$suite"
