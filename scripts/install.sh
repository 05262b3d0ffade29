#!/bin/sh
# Installs a release of tofu-modlock for this user, from its checked tarball. See docs/install.md.
set -u

# The repository that published this copy, as https://HOST/OWNER/NAME. The release workflow fills it in.
published_by=

usage() {
  cat <<'TEXT'
usage: install.sh [--version VERSION] [--to DIRECTORY]
       install.sh --uninstall [--to DIRECTORY]

  --version    this release (default: the newest)
  --to         unpack into DIRECTORY/share/tofu-modlock/VERSION and link DIRECTORY/bin/tofu-modlock to it
               (default: ~/.local)
  --uninstall  remove the link and all versions; the cache and the settings stay

The tarball must have the checksum that SHA256SUMS of the release has for it. If gh is installed and logged in, the
tarball must also have an attestation of the release workflow. Older versions are removed after the new one ran.

  TOFU_MODLOCK_RELEASES    the address of the releases or of a mirror, with the files download/vVERSION/FILE and
                           latest/download/SHA256SUMS (default: the releases of the repository)
  TOFU_MODLOCK_REPOSITORY  the repository whose attestation is needed, as https://HOST/OWNER/NAME
                           (default: the one that published this script)

Exit: 0 installed or removed, 1 failed, with the previous version as before, 2 usage.
TEXT
}

say() { printf '%s\n' "$1"; }

# fail MESSAGE HINT
fail() {
  printf 'install.sh: %s\n  hint: %s\n' "$1" "$2" >&2
  exit 1
}

misused() {
  printf 'install.sh: %s\n' "$1" >&2
  usage >&2
  exit 2
}

# Prints the closest directory above $1 that exists.
existing_above() {
  above=$1
  until [ -d "$above" ]; do above=$(dirname -- "$above"); done
  printf '%s\n' "$above"
}

# Removes $1 and the directories above it, up to $2, as far as they are empty.
remove_empty() {
  empty=$1
  while [ "$empty" != "$2" ] && rmdir -- "$empty" 2>/dev/null; do empty=$(dirname -- "$empty"); done
}

# Restores what was there before, unless everything succeeded.
clean_up() {
  status=$?
  trap - EXIT
  trap '' HUP INT TERM
  if [ "$status" -ne 0 ] && [ -n "$placed" ]; then
    if [ -n "$linked" ]; then
      if [ -n "$previous" ]; then
        ln -s -- "$previous" "$work/link" && mv -f -- "$work/link" "$bin/tofu-modlock"
      else
        rm -f -- "$bin/tofu-modlock"
      fi
    fi
    rm -rf -- "${share:?}/$version"
  fi
  if [ -n "$work" ]; then
    [ "$status" -eq 0 ] || [ ! -d "$work/replaced" ] || mv -- "$work/replaced/$version" "$share/"
    rm -rf -- "$work"
  fi
  if [ "$status" -ne 0 ] && [ -n "$share_above" ]; then
    remove_empty "$share" "$share_above"
    remove_empty "$bin" "$bin_above"
  fi
  exit "$status"
}

# download NAME FILE: the file of the releases.
download() {
  if command -v curl >/dev/null; then
    curl --fail --silent --show-error --location --proto "$protocols" --retry 2 --connect-timeout 30 --speed-limit 1 --speed-time 60 \
      --output "$2" -- "$releases/$1" 2>"$work/log"
  elif command -v wget >/dev/null; then
    wget -q -O "$2" "$releases/$1" 2>"$work/log" || { say "wget failed with exit code $?" >>"$work/log" && false; }
  else
    fail 'neither curl nor wget found' 'install one of them'
  fi && return
  fail "cannot download $releases/$1: $(cat "$work/log")" "$3"
}

# Prints the checksum that the file $1, in the format of sha256sum, has for the file $2.
checksum_of() {
  while read -r sum name || [ -n "$sum" ]; do
    case $name in
      "$2" | "*$2") printf '%s\n' "$sum"; return ;;
    esac
  done <"$1"
}

# Prints the version of the tarball for this machine that the checksums in $1 name.
version_in() {
  while read -r sum name || [ -n "$sum" ]; do
    name=${name#\*}
    case $name in
      tofu-modlock-*"-linux-$machine.tar.gz")
        name=${name#tofu-modlock-}
        printf '%s\n' "${name%-linux-"$machine".tar.gz}"
        return
        ;;
    esac
  done <"$1"
}

# Fails if gh can check the attestation of the file $1, and rejects it. Prints the result.
check_attestation() {
  slug=${repository#https://}
  host=${slug%%/*}
  slug=${slug#*/}
  if [ -z "$repository" ]; then
    unchecked='the repository is not known; TOFU_MODLOCK_REPOSITORY names it'
  elif ! command -v gh >/dev/null; then
    unchecked='gh is not installed'
  elif ! gh attestation verify --help >/dev/null 2>&1 </dev/null; then
    unchecked='this gh is too old'
  elif ! GH_HOST=$host gh auth token >/dev/null 2>&1 </dev/null; then
    unchecked="gh is not logged in to $host"
  elif GH_HOST=$host GH_PROMPT_DISABLED=1 gh attestation verify "$1" --repo "$slug" \
    --signer-workflow "$slug/.github/workflows/release.yml" >"$work/log" 2>&1 </dev/null; then
    say "attestation: verified, from $repository"
    return
  else
    fail "no valid attestation of $repository for $tarball: $(cat "$work/log")" \
      'do not use this file; report it to the owners of the repository'
  fi
  say "attestation: not checked: $unchecked"
}

# Fails if the link is not one to a version below $share.
check_link() {
  [ -e "$bin/tofu-modlock" ] || [ -L "$bin/tofu-modlock" ] || return 0
  if [ -L "$bin/tofu-modlock" ]; then
    previous=$(readlink -- "$bin/tofu-modlock")
    case $previous in
      "$share"/*) return ;;
    esac
  fi
  fail "$bin/tofu-modlock was not installed by this script" 'remove it, or use --to DIRECTORY'
}

uninstall() {
  [ -d "$share" ] || fail "tofu-modlock is not installed in $to" 'name the directory with --to'
  check_link
  { rm -f -- "$bin/tofu-modlock" && rm -rf -- "$share"; } 2>/dev/null || fail "cannot remove all of $share" 'check its permissions'
  say "removed: $bin/tofu-modlock, $share"
}

main() {
  to=
  version=
  action=install
  while [ $# -gt 0 ]; do
    case $1 in
      --to | --version)
        [ -n "${2:-}" ] || misused "$1: a value is missing"
        if [ "$1" = --to ]; then to=$2; else version=${2#v}; fi
        shift
        ;;
      --uninstall) action=uninstall ;;
      -h | --help) usage; exit 0 ;;
      *) misused "unexpected argument: $1" ;;
    esac
    shift
  done
  case $version in
    *[!0-9A-Za-z.+-]* | [!0-9]*) misused "--version: expected one such as 1.2.3, got $version" ;;
  esac
  if [ -z "$to" ]; then
    [ -n "${HOME:-}" ] || fail 'HOME is not set' 'set it, or use --to DIRECTORY'
    to=$HOME/.local
  fi
  case $to in
    /*) ;;
    *) to=$PWD/$to ;;
  esac
  to=${to%/}
  bin=$to/bin
  share=$to/share/tofu-modlock
  work='' placed='' linked='' previous='' share_above='' bin_above=''
  "$action"
}

install() {
  repository=${TOFU_MODLOCK_REPOSITORY:-$published_by}
  repository=${repository%/}
  releases=${TOFU_MODLOCK_RELEASES:-${repository:+$repository/releases}}
  releases=${releases%/}
  case $repository in
    '' | https://*/*/*) ;;
    *) fail "expected https://HOST/OWNER/NAME, got $repository" 'correct TOFU_MODLOCK_REPOSITORY' ;;
  esac
  case $releases in
    '') fail 'the address of the releases is not known' 'use the install.sh of a release, or set TOFU_MODLOCK_RELEASES' ;;
    https://*) protocols='=https' ;;
    http://127.0.0.1[:/]* | http://localhost[:/]* | 'http://[::1]'[:/]*) protocols='=http,https' ;;
    *) fail "expected an address with https, got $releases" 'correct TOFU_MODLOCK_RELEASES' ;;
  esac
  case $(uname -s):$(uname -m) in
    Linux:x86_64 | Linux:amd64) machine=x86_64 ;;
    Linux:aarch64 | Linux:arm64) machine=aarch64 ;;
    *) fail "there is no release for $(uname -s) on $(uname -m)" 'use the container image (docs/install.md)' ;;
  esac
  for tool in tar gzip sha256sum mktemp; do
    command -v "$tool" >/dev/null || fail "$tool not found" 'install it'
  done
  check_link

  share_above=$(existing_above "$share")
  bin_above=$(existing_above "$bin")
  trap clean_up EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
  { mkdir -p -- "$share" "$bin" && [ -w "$bin" ] && work=$(mktemp -d "$share/.install.XXXXXX"); } 2>/dev/null ||
    fail "cannot write to $share and $bin" 'check their permissions, or use --to DIRECTORY'

  if [ -z "$version" ]; then
    download latest/download/SHA256SUMS "$work/SHA256SUMS" 'check the network, and that there is a release'
    version=$(version_in "$work/SHA256SUMS")
    case $version in
      '' | *[!0-9A-Za-z.+-]* | [!0-9]*) fail "the newest release has no tarball for $machine" 'name a release with --version' ;;
    esac
  fi
  tarball=tofu-modlock-$version-linux-$machine.tar.gz
  place="download/v$version"
  download "$place/SHA256SUMS" "$work/SHA256SUMS" "check the network, and that there is a release $version"
  expected=$(checksum_of "$work/SHA256SUMS" "$tarball")
  case $expected in
    '') fail "SHA256SUMS of $version has no checksum for $tarball" 'use another release' ;;
  esac
  download "$place/$tarball" "$work/$tarball" 'try again'
  actual=$(sha256sum <"$work/$tarball")
  [ "${actual%% *}" = "$expected" ] ||
    fail "$tarball has the checksum ${actual%% *}, and SHA256SUMS has $expected" \
      'try again; if it fails again, do not use this file and report it to the owners of the repository'
  say "checksum: verified, $tarball"
  check_attestation "$work/$tarball"

  mkdir -- "$work/$version"
  { gzip -dc <"$work/$tarball" | tar -xf - -C "$work/$version" --strip-components 1; } 2>"$work/log" ||
    fail "cannot unpack $tarball: $(cat "$work/log")" 'check the free space'
  ran=$("$work/$version/bin/tofu-modlock" --version 2>&1 </dev/null)
  [ "$ran" = "$version" ] ||
    fail "expected $version of the program to run, got: $ran" 'check that programs may run in this directory (noexec)'

  if [ -e "$share/$version" ]; then
    { mkdir -- "$work/replaced" && mv -- "$share/$version" "$work/replaced/"; } ||
      fail "cannot replace $share/$version" 'check its permissions'
  fi
  mv -- "$work/$version" "$share/" || fail "cannot write $share/$version" 'check its permissions'
  placed=yes
  ln -s -- "$share/$version/bin/tofu-modlock" "$work/new" || fail "cannot write to $share" 'check the free space'
  linked=yes
  mv -f -- "$work/new" "$bin/tofu-modlock" || fail "cannot write $bin/tofu-modlock" 'check its permissions'
  ran=$("$bin/tofu-modlock" --version 2>&1 </dev/null)
  [ "$ran" = "$version" ] || fail "expected $version of the program to run, got: $ran" 'report it to the owners of the repository'

  # From here on the new version stays.
  placed=
  for other in "$share"/[0-9]*; do
    [ "$other" = "$share/$version" ] || [ ! -d "$other/lib/tofu-modlock" ] || { rm -rf -- "$other" && say "removed: $other"; }
  done
  say "installed: $bin/tofu-modlock, version $version"
  case :$PATH: in
    *":$bin:"*) ;;
    *) say "$bin is not on PATH. Add it, for example in ~/.profile: export PATH=\"$bin:\$PATH\"" ;;
  esac
}

# The shell has read the whole script before it runs a line of it.
main "$@"
