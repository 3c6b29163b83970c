#!/bin/sh
# Brings what `make test` needs beside Go: a MariaDB server with its client, an etcd of its own, sysbench, and a C compiler for the race
# detector; with --haproxy also what measurements compare with. Without root a missing compiler only means that the race detector stays off.
set -eu
. "$(dirname "$0")/lib.sh"
PATH=$PATH:$SKARV_CACHE/bin

cc_works() { echo 'int main(void) { return 0; }' | cc -x c - -o /dev/null >/dev/null 2>&1; }

# The tests run on MariaDB, whatever other server is there.
have_mariadb() { have mariadbd || [ -x "$SKARV_CACHE/mariadb/root/usr/sbin/mariadbd" ]; }

wanted=
have_mariadb || wanted="$wanted mariadb-server-core"
have mariadb && have mariadb-dump || wanted="$wanted mariadb-client"
have etcd && have etcdctl || wanted="$wanted etcd-server etcd-client"
have sysbench || wanted="$wanted sysbench"
[ "${1:-}" != --haproxy ] || have haproxy || wanted="$wanted haproxy"
if is_root && have apt-get; then
	cc_works || wanted="$wanted gcc libc6-dev"
	[ -e /etc/ssl/certs/ca-certificates.crt ] || wanted="$wanted ca-certificates"
fi
[ -n "$wanted" ] || exit 0

if have apt-get && is_root; then
	apt_install $wanted || die "apt-get could not install:$wanted; see above"
	exit 0
fi
case $wanted in
*mariadb*)
	unpack_packages mariadb mariadb-server-core mariadb-client ||
		die "the tests need$wanted (Debian packages): install them so that mariadbd, mariadb and mariadb-dump are in PATH"
	wrap mariadb mariadb mariadb-dump mariadb-admin mariadb-binlog
	;;
esac
case $wanted in
*etcd-server*)
	unpack_packages etcd etcd-server etcd-client || die "the tests need etcd: install etcd and etcdctl so that they are in PATH"
	wrap etcd etcd etcdctl
	;;
esac
case $wanted in
*sysbench*)
	if unpack_packages sysbench sysbench; then
		wrap sysbench sysbench
	else
		say "sysbench is missing: tests and measurements that use it will say so"
	fi
	;;
esac
case $wanted in
*haproxy*) die "haproxy is needed to compare with: install it so that it is in PATH" ;;
esac
