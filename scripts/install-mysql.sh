#!/bin/sh
# Puts a current MySQL (whatever Debian's unstable release has, 9.x) into the user's cache. Nothing is installed
# on the system and root is not needed: the server is unpacked together with every library it needs, the C library
# included, and is started through its own dynamic loader. datanode.Find knows this layout.
set -eu
. "$(dirname "$0")/lib.sh"

home=$SKARV_CACHE/mysql
if [ -x "$home/root/usr/sbin/mysqld" ] && [ -f "$home/complete" ]; then
	exit 0
fi
work=$home/work
rm -rf "$work" "$home/root"
mkdir -p "$work/debs" "$home/root"
say "fetching MySQL (about 50 MB)"
sid_apt "$work/apt"
# Helper scripts' interpreter and other things a server never loads stay away.
packages=$($APT --no-install-recommends --print-uris -y install mysql-server-core mysql-client-core |
	awk '{print $2}' | cut -d_ -f1 |
	grep -vE '^(perl|perl-base|perl-modules.*|libperl.*|libgdbm.*|libdb5.*|libc-gconv.*|libsasl2-modules.*|gcc-.*)$')
(cd "$work/debs" && $APT download $packages) || die "download from $mirror failed"
unpack "$work/debs" "$home/root" || die "unpacking into $home/root failed"
[ -x "$home/root/usr/sbin/mysqld" ] || die "the packages hold no mysqld: see $work/debs"
rm -rf "$work"
touch "$home/complete"
say "MySQL is in $home/root"
