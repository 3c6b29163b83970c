# Shared by the installers of this directory; sourced, never run.
# What is unpacked without root lives below $SKARV_CACHE; datanode.Find looks there too.

SKARV_CACHE=${SKARV_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/skarv}

say() { echo "skarv: $*" >&2; }
die() { say "$*"; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

# Debian keeps servers in sbin directories, which an ordinary user's PATH may lack.
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin

is_root() { [ "$(id -u)" = 0 ]; }

# apt_install PACKAGE...: install on the system, as root.
apt_install() {
	say "installing $* with apt-get"
	export DEBIAN_FRONTEND=noninteractive
	# Lists that are there may be good enough; only a failure is worth an update.
	apt-get -qq install -y --no-install-recommends "$@" >/dev/null 2>&1 && return 0
	apt-get -qq update >&2 && apt-get -qq install -y --no-install-recommends "$@" >&2
}

# private_apt DIR: set APT to an apt-get that keeps lists and cache in DIR, so that it needs no root.
# Further options (a sources list, a dpkg status) are appended by the caller.
private_apt() {
	mkdir -p "$1/lists/partial" "$1/cache/archives/partial"
	APT="apt-get -qq -o Dir::State::Lists=$1/lists -o Dir::Cache=$1/cache -o Debug::NoLocking=1
		-o APT::Sandbox::User=root -o Acquire::Languages=none -o APT::Get::List-Cleanup=0"
}

# sid_apt DIR: private_apt, of Debian's unstable release and an empty list of installed packages: apt then resolves a
# whole closure from unstable and mixes nothing with the machine's packages. The mirror is the machine's own.
sid_apt() {
	have apt-get && have dpkg-deb || die "MySQL for tests comes from Debian packages, and apt-get or dpkg-deb is missing"
	private_apt "$1"
	mirror=$(awk '/^URIs:/ {print $2; exit}' /etc/apt/sources.list.d/*.sources 2>/dev/null || true)
	[ -n "$mirror" ] || mirror=$(awk '$1 == "deb" {for (i = 2; i <= NF; i++) if ($i ~ /^http/) {print $i; exit}}' \
		/etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null || true)
	[ -n "$mirror" ] || mirror=http://deb.debian.org/debian
	keyring=/usr/share/keyrings/debian-archive-keyring.gpg
	echo "deb [signed-by=$keyring] $mirror sid main" >"$1/sources.list"
	: >"$1/status"
	APT="$APT -o Dir::Etc::sourcelist=$1/sources.list -o Dir::Etc::sourceparts=/dev/null -o Dir::State::status=$1/status"
	$APT update || die "no package lists from $mirror"
}

# unpack DEBDIR ROOT: unpack every package of DEBDIR into ROOT, without documentation.
unpack() {
	mkdir -p "$2"
	for deb in "$1"/*.deb; do
		dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$2" \
			--exclude='./usr/share/doc*' --exclude='./usr/share/man' --exclude='./usr/share/locale' \
			--exclude='*/gconv' || return 1
	done
}

# unpack_packages NAME PACKAGE...: without root, unpack the packages and those of their dependencies that the machine
# lacks into $SKARV_CACHE/NAME/root. They come from the machine's own sources, so they fit its libraries.
unpack_packages() {
	name=$1
	shift
	have apt-get && have dpkg-deb || return 1
	work=$SKARV_CACHE/$name/work
	rm -rf "$work" "$SKARV_CACHE/$name/root"
	mkdir -p "$work/debs"
	private_apt "$work/apt"
	say "unpacking $* into $SKARV_CACHE/$name (no root, so nothing is installed)"
	status=${SKARV_DPKG_STATUS:-/var/lib/dpkg/status}
	APT="$APT -o Dir::State::status=$status"
	# Some images have hooks on update that fail without root and do not matter.
	$APT update >"$work/update.log" 2>&1 || { cat "$work/update.log" >&2; return 1; }
	list=$($APT --no-install-recommends --print-uris -y install "$@") || return 1
	list=$(echo "$list" | awk "/^'/ {print \$2}" | cut -d_ -f1)
	[ -n "$list" ] || return 1
	(cd "$work/debs" && $APT download $list) || return 1
	unpack "$work/debs" "$SKARV_CACHE/$name/root" || return 1
	rm -rf "$work"
	touch "$SKARV_CACHE/$name/complete"
}

# wrap NAME PROGRAM...: make unpacked programs callable from $SKARV_CACHE/bin, with their libraries.
wrap() {
	root=$SKARV_CACHE/$1/root
	shift
	mkdir -p "$SKARV_CACHE/bin"
	for program in "$@"; do
		[ -x "$root/usr/bin/$program" ] || continue
		libs=$(ls -d "$root"/usr/lib/*-linux-gnu "$root"/lib/*-linux-gnu 2>/dev/null | tr '\n' ':')
		cat >"$SKARV_CACHE/bin/$program" <<END
#!/bin/sh
LD_LIBRARY_PATH="$libs\$LD_LIBRARY_PATH" LUA_PATH="$root/usr/share/sysbench/?.lua;;" exec "$root/usr/bin/$program" "\$@"
END
		chmod +x "$SKARV_CACHE/bin/$program"
	done
}
