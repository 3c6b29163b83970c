#!/bin/sh
# Makes sure that a MariaDB or MySQL server can be found: one that is there is left alone; else MariaDB's core packages
# are installed (as root) or unpacked into the user's cache (without). With --client the client programs too.
set -eu
. "$(dirname "$0")/lib.sh"

client=no
[ "${1:-}" = --client ] && client=yes
PATH=$PATH:$SKARV_CACHE/bin

have_server() {
	have mariadbd || have mysqld || [ -x "$SKARV_CACHE/mariadb/root/usr/sbin/mariadbd" ]
}
have_client() { have mariadb || have mysql; }

wanted=
have_server || wanted="mariadb-server-core"
if [ $client = yes ]; then
	have_client || wanted="$wanted mariadb-client-core"
fi
[ -n "$wanted" ] || exit 0

if have apt-get && is_root; then
	apt_install $wanted || die "apt-get could not install $wanted; see above"
elif unpack_packages mariadb mariadb-server-core mariadb-client-core; then
	wrap mariadb mariadb mariadb-dump mariadb-admin mariadb-binlog
else
	die "no database server found. Install MariaDB 10.11 or newer (Debian: apt-get install mariadb-server-core mariadb-client-core) or MySQL 8.0.29 or newer, so that mariadbd or mysqld is in PATH"
fi
have_server || die "still no database server after installing $wanted"
