#!/bin/bash
# rootfs.sh PINS DIR             unpacks the packages of the file PINS into the root filesystem DIR, which must not exist
# rootfs.sh --update-pins PINS   pins the packages' current versions: rewrites PINS
#
# PINS has a line for each package, in the form that `sha256sum -c` reads, and the lines
#   # suite: NAME        the Debian suite of the packages
#   # folder: PATH       a folder to create in the root filesystem (none, one or more such lines)
#   # exclude: PATTERN   files that are not unpacked, like ./usr/share/doc/* (none, one or more such lines)
# The packages come from the Debian mirror that apt uses on this machine, or from LLMBENCH_DEBIAN_MIRROR (the URL of the
# folder that holds dists/ and pool/). No root needed.
# Exit status: 3 when this machine cannot (a tool or the mirror is missing, the pins are outdated), 1 when something is wrong.
set -euo pipefail
export LC_ALL=C

cannot() { echo "rootfs.sh: $*" >&2; exit 3; }
wrong() { echo "rootfs.sh: $*" >&2; exit 1; }

# fetch URL FILE: status 0, or the HTTP status (0 for no answer) in $code and curl's message in $why.
fetch() {
  code=$(curl -sSL --connect-timeout 5 --max-time 120 -w '%{http_code}' -o "$2" "$1" 2>"$tmp/curl") || { code=0 why=$(<"$tmp/curl"); return 1; }
  why="status $code"
  [ "$code" = 200 ]
}

# candidates: the mirrors of apt's configuration, one a line.
candidates() {
  if [ -n "${LLMBENCH_DEBIAN_MIRROR:-}" ]; then echo "$LLMBENCH_DEBIAN_MIRROR"; return; fi
  command -v apt-get >/dev/null || return 0
  apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Component: main' 2>/dev/null | while read -r uri; do
    case $uri in
      http://*|https://*) echo "$uri" ;;
      mirror+file:*) f=${uri#mirror+file:}; grep -Eo '^https?://[^[:space:]]+' "${f%/}" || true ;;
    esac
  done | awk '!seen[$0]++'
}

# find_mirror: sets $mirror to the first candidate that holds the suite, and leaves its InRelease in $tmp.
find_mirror() {
  local m tried=
  for m in $(candidates); do
    mirror=${m%/}
    if fetch "$mirror/dists/$suite/InRelease" "$tmp/InRelease"; then return; fi
    tried+="; $mirror: $why"
  done
  [ -n "$tried" ] || cannot "apt names no mirror that curl can read: set LLMBENCH_DEBIAN_MIRROR to the URL of a Debian mirror"
  cannot "no mirror with the Debian suite $suite (LLMBENCH_DEBIAN_MIRROR can name one)$tried"
}

# index PACKAGE...: the suite's "SHA256  path" of each, in the order given.
index() {
  fetch "$mirror/dists/$suite/main/binary-amd64/Packages.xz" "$tmp/Packages.xz" || cannot "the package list of $suite: $why"
  xz -dc "$tmp/Packages.xz" | awk -v want="$*" '
    /^Package: / { p = $2 } /^Filename: / { f[p] = $2 } /^SHA256: / { s[p] = $2 }
    END { n = split(want, w, " "); for (i = 1; i <= n; i++) if (w[i] in f) print s[w[i]] "  " f[w[i]] }'
}

package() { local f=${1##*/}; echo "${f%%_*}"; }
version() { local f=${1##*/}; f=${f#*_}; echo "${f%_*}"; }

# outdated: tells which pins are not in the suite any more.
outdated() {
  local sum path found now message=
  index "${packages[@]}" >"$tmp/now"
  for path in "${paths[@]}"; do
    now=
    while read -r sum found; do if [ "$(package "$found")" = "$(package "$path")" ]; then now=$(version "$found"); fi; done <"$tmp/now"
    [ "$now" = "$(version "$path")" ] || message+="; $(package "$path"): pinned $(version "$path"), found ${now:-none}"
  done
  cannot "outdated pins: the mirror does not hold $1 any more; suite $suite has${message:-; the same versions: is the mirror complete?}; refresh with rootfs.sh --update-pins PINS"
}

update_pins() {
  local keys=/usr/share/keyrings/debian-archive-keyring.gpg want
  find_mirror
  index "${packages[@]}" >"$tmp/now"
  [ "$(wc -l <"$tmp/now")" = "${#packages[@]}" ] || wrong "suite $suite lacks one of ${packages[*]}; it has: $(cut -c67- "$tmp/now" | xargs -n1 basename | tr '\n' ' ')"
  want=$(awk '/^SHA256:/ { on = 1 } on && $3 == "main/binary-amd64/Packages.xz" { print $1; exit }' "$tmp/InRelease")
  echo "$want  $tmp/Packages.xz" | sha256sum -c --quiet || wrong "the package list is not the one that InRelease names: try again later"
  if command -v gpgv >/dev/null && [ -e "$keys" ]; then
    gpgv --quiet --keyring "$keys" "$tmp/InRelease" 2>"$tmp/gpgv" || { cat "$tmp/gpgv" >&2; wrong "the signature of InRelease is not Debian's"; }
  else
    echo "rootfs.sh: signature not checked: gpgv and debian-archive-keyring are needed for that" >&2
  fi
  { grep '^#' "$pins"; cat "$tmp/now"; } >"$tmp/pins"
  diff "$pins" "$tmp/pins" || true
  cat "$tmp/pins" >"$pins"
}

unpack() {
  local d i deb root=$1 skip=()
  [ ! -e "$root" ] || wrong "$root exists"
  find_mirror
  mkdir -p "$root"/usr/{bin,sbin,lib,lib64} "$root"/{tmp,proc,sys,dev}
  while read -r d; do mkdir -p "$root/$d"; done < <(sed -n 's/^# folder: //p' "$pins")
  while read -r d; do skip+=("--exclude=$d"); done < <(sed -n 's/^# exclude: //p' "$pins")
  for d in bin sbin lib lib64; do ln -s "usr/$d" "$root/$d"; done
  for i in "${!paths[@]}"; do
    deb=$tmp/package.deb
    if ! fetch "$mirror/${paths[i]}" "$deb"; then
      if [ "$code" = 404 ]; then outdated "${paths[i]##*/}"; fi
      cannot "$mirror/${paths[i]}: $why"
    fi
    echo "${sums[i]}  $deb" | sha256sum -c --quiet >/dev/null 2>&1 ||
      wrong "$mirror/${paths[i]}: SHA-256 is $(sha256sum <"$deb" | cut -d' ' -f1), pinned ${sums[i]}"
    dpkg-deb --fsys-tarfile "$deb" | tar -xp -C "$root" --keep-directory-symlink --no-same-owner \
      --exclude='./usr/share/man/*' --exclude='./usr/share/locale/*' --exclude='./usr/lib/x86_64-linux-gnu/gconv/*' "${skip[@]}"
    # A file that the disk holds otherwise than the package would be a server that dies of a signal (deb-md5sums(5)).
    dpkg-deb --ctrl-tarfile "$deb" | tar -xO ./md5sums >"$tmp/md5sums"
    (cd "$root" && md5sum -c --quiet --ignore-missing "$tmp/md5sums" >"$tmp/damaged" 2>&1) ||
      wrong "${paths[i]##*/}: unpacked files differ from the package: $(head -3 "$tmp/damaged" | tr '\n' ';')"
  done
  chmod 1777 "$root/tmp"
}

missing=
for t in curl xz dpkg-deb tar awk sha256sum md5sum; do command -v $t >/dev/null || missing+=" $t"; done
[ -z "$missing" ] || cannot "not installed:$missing"
usage='usage: rootfs.sh PINS DIR | rootfs.sh --update-pins PINS'
update=
if [ "${1:-}" = --update-pins ]; then update=1; shift; fi
pins=${1:-}
[ -f "$pins" ] || wrong "no file of pins: $usage"
suite=$(sed -n 's/^# suite: //p' "$pins")
sums=() paths=() packages=()
while read -r sum path; do sums+=("$sum") paths+=("$path") packages+=("$(package "$path")"); done < <(grep -v '^#' "$pins")

# apt's proxy is curl's too, unless curl has one.
if command -v apt-config >/dev/null && [ -z "${http_proxy:-}" ]; then
  eval "$(apt-config shell http_proxy Acquire::http::Proxy)"
  if [ -n "${http_proxy:-}" ] && [ "$http_proxy" != DIRECT ]; then export http_proxy; else unset http_proxy; fi
fi

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
case $update,$# in
  1,1) update_pins ;;
  ,2) unpack "$2" ;;
  *) wrong "$usage" ;;
esac
