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
have apt-get && have dpkg-deb || die "MySQL for tests comes from Debian packages, and apt-get or dpkg-deb is missing: put a mysqld into PATH"

work=$home/work
rm -rf "$work" "$home/root"
mkdir -p "$work/debs" "$home/root"
private_apt "$work/apt"

# The machine's own mirror, but the unstable release, and an empty list of installed packages: apt then resolves
# the whole closure from unstable and mixes nothing with the machine's libraries.
mirror=$(awk '/^URIs:/ {print $2; exit}' /etc/apt/sources.list.d/*.sources 2>/dev/null || true)
[ -n "$mirror" ] || mirror=$(awk '$1 == "deb" {for (i = 2; i <= NF; i++) if ($i ~ /^http/) {print $i; exit}}' \
	/etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null || true)
[ -n "$mirror" ] || mirror=http://deb.debian.org/debian
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
echo "deb [signed-by=$keyring] $mirror sid main" >"$work/apt/sources.list"
: >"$work/apt/status"
APT="$APT -o Dir::Etc::sourcelist=$work/apt/sources.list -o Dir::Etc::sourceparts=/dev/null -o Dir::State::status=$work/apt/status"

say "fetching MySQL (about 50 MB) from $mirror"
$APT update || die "no package lists from $mirror"
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
