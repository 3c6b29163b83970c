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
		-o APT::Sandbox::User=$(id -un) -o Acquire::Languages=none -o APT::Get::List-Cleanup=0"
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
