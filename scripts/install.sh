#!/bin/sh
# Installs a release of tofu-modlock for this user, from its checked tarball. See docs/install.md.
set -u

# The repository that published this copy, as https://HOST/OWNER/NAME. The release workflow fills it in.
published_by=

usage() {
  cat <<'TEXT'
usage: install.sh [--version VERSION] [--to DIRECTORY] [--sha256 CHECKSUM]
       install.sh --uninstall [--to DIRECTORY]

  --version    this release (default: the newest)
  --to         unpack into DIRECTORY/share/tofu-modlock/VERSION and link DIRECTORY/bin/tofu-modlock, the man page and the
               completions in DIRECTORY/share to it (default: ~/.local)
  --sha256     the checksum that the tarball must have, from a place that you trust
  --uninstall  remove the links and all versions; the cache and the settings stay

The tarball must have the checksum that SHA256SUMS of the release has for it. If gh is installed and logged in, the
tarball must also have an attestation of the release workflow. A wget that checks no certificates, such as that of
busybox, is used only with such an attestation or with --sha256. Other versions are removed after the new one ran. A
version that is installed and intact is not downloaded again.

  TOFU_MODLOCK_RELEASES    the address of the releases or of a mirror, with the files download/vVERSION/FILE and
                           latest/download/SHA256SUMS (default: the releases of the repository)
  TOFU_MODLOCK_REPOSITORY  the repository whose attestation is needed, as https://HOST/OWNER/NAME
                           (default: the one that published this script)

Exit: 0 installed or removed, 1 failed, with the previous version as before, 2 usage.
TEXT
}

say() { printf '%s\n' "$1"; }

# fail MESSAGE HINT: the hint is another one if the message has the reason of a full disk.
fail() {
  case $1 in
    *'No space left'* | *'quota exceeded'*) set -- "$1" "check the free space and the quota of $to" ;;
  esac
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

# Sets `downloader`: curl, wget, or "other wget", which may check no certificates.
choose_downloader() {
  if command -v curl >/dev/null; then
    downloader=curl
  elif ! command -v wget >/dev/null; then
    fail 'neither curl nor wget found' 'install one of them'
  else
    case $(wget --version 2>/dev/null </dev/null) in
      'GNU Wget'*) downloader=wget ;;
      *) downloader='other wget' ;;
    esac
  fi
}

# Follows redirects itself, because wget would follow one to http.
wget_file() {
  url=$1
  for _ in 1 2 3 4 5 6; do
    status=0
    wget --no-verbose --server-response --max-redirect=0 --tries=3 --waitretry=2 --connect-timeout=30 --read-timeout=60 \
      --output-document="$2" -- "$url" 2>"$work/log" || status=$?
    location='' cause=''
    while IFS= read -r line; do
      case $line in
        '  '[Ll]ocation:*) location=${line#*: } ;;
        '  '*) ;;  # another header
        *) cause=$line ;;
      esac
    done <"$work/log"
    cause=${cause:-"the connection broke off (exit code $status of wget)"}
    case $location in
      '') return "$status" ;;
      https://*) url=$location ;;
      http://*)
        cause="it redirects to $location, which is not https"
        [ "$protocols" != =https ] || return 1
        url=$location
        ;;
      /*)
        rest=${url#*://}
        url=${url%%://*}://${rest%%/*}$location
        ;;
      *) cause="it redirects to $location" && return 1 ;;
    esac
  done
  cause='too many redirects'
  return 1
}

# download NAME FILE HINT: the file of the releases. The hint is for an answer of the server, such as 404.
download() {
  status=0
  case $downloader in
    curl)
      curl --fail --silent --show-error --location --proto "$protocols" --retry 2 --connect-timeout 30 --speed-limit 1 \
        --speed-time 60 --output "$2" -- "$releases/$1" 2>"$work/log" || status=$?
      read -r cause <"$work/log"
      ;;
    wget) wget_file "$releases/$1" "$2" || status=$? ;;
    *)
      wget -q -O "$2" "$releases/$1" 2>"$work/log" || status=1
      cause=$(cat "$work/log")
      ;;
  esac
  hint=$3
  case $downloader:$status in
    *:0) return ;;
    curl:23 | wget:3) hint="check the free space and the quota of $to" ;;
    curl:35 | curl:51 | curl:60 | curl:77 | wget:5)
      hint='install the package ca-certificates; if a proxy has a certificate of its own, install that one too'
      ;;
    curl:5 | curl:6 | curl:7 | curl:28 | wget:4) hint='check the network and the proxy, and try again' ;;
    curl:18 | curl:56 | curl:92) hint='try again' ;;
  esac
  fail "cannot download $shown/$1: $cause" "$hint"
}

# Reads $1, in the format of sha256sum. Sets `expected`, the checksum of $tarball, and of the tarballs `listed`, a version,
# and `machines`.
read_checksums() {
  expected='' listed='' machines=''
  while read -r sum name || [ -n "$sum" ]; do
    name=${name#\*}
    [ "$name" != "$tarball" ] || expected=$sum
    case $name in
      tofu-modlock-*-linux-*.tar.gz)
        name=${name%.tar.gz}
        listed=${name#tofu-modlock-}
        listed=${listed%-linux-*}
        machines="$machines${machines:+, }${name##*-linux-}"
        ;;
    esac
  done <"$1"
}

# Whether the version $1 is older than $2.
is_older() {
  one=${1%%[-+]*} two=${2%%[-+]*}
  while [ -n "$one$two" ]; do
    first=${one%%.*} second=${two%%.*}
    [ "${first:-0}" -eq "${second:-0}" ] 2>/dev/null || { [ "${first:-0}" -lt "${second:-0}" ] 2>/dev/null && return || return 1; }
    one=${one#"$first"} two=${two#"$second"}
    one=${one#.} two=${two#.}
  done
  case $1:$2 in
    *-*:*-*) return 1 ;;
    *-*:*) return 0 ;;
  esac
  return 1
}

# Whether the version $1 is installed, linked, complete and runs. The file .sha256 is made by this script.
is_intact() {
  [ "$previous" = "$share/$1/bin/tofu-modlock" ] &&
    (cd "$share/$1" && sha256sum -c .sha256) >/dev/null 2>&1 </dev/null && [ "$("$previous" --version 2>/dev/null </dev/null)" = "$1" ]
}

# Sets `unchecked`, the reason why gh cannot check attestations, or ''.
ask_gh() {
  slug=${repository#https://}
  host=${slug%%/*}
  slug=${slug#*/}
  unchecked=
  if [ -z "$repository" ]; then
    unchecked='the repository is not known; TOFU_MODLOCK_REPOSITORY names it'
  elif ! command -v gh >/dev/null; then
    unchecked='gh is not installed'
  elif ! gh attestation verify --help >/dev/null 2>&1 </dev/null; then
    unchecked='this gh is too old'
  elif ! GH_HOST=$host gh auth token >/dev/null 2>&1 </dev/null; then
    unchecked="gh is not logged in to $host"
  fi
}

# Fails if gh can check the attestation of the file $1, and rejects it. Prints the result.
check_attestation() {
  if [ -n "$unchecked" ]; then
    say "attestation: not checked: $unchecked"
  elif GH_HOST=$host GH_PROMPT_DISABLED=1 gh attestation verify "$1" --repo "$slug" \
    --signer-workflow "$slug/.github/workflows/release.yml" >"$work/log" 2>&1 </dev/null; then
    say "attestation: verified, from $repository"
  else
    fail "no valid attestation of $repository for $tarball: $(cat "$work/log")" \
      'do not use this file; report it to the owners of the repository'
  fi
}

# Whether $1 is a link to a version below $share. Sets `target`.
is_own_link() {
  [ -L "$1" ] && target=$(readlink -- "$1") || return 1
  case $target in
    "$share"/*) return ;;
  esac
  return 1
}

# Fails if the program was not installed by this script. Sets `previous` to the target of its link.
check_link() {
  [ -e "$bin/tofu-modlock" ] || [ -L "$bin/tofu-modlock" ] || return 0
  is_own_link "$bin/tofu-modlock" || fail "$bin/tofu-modlock was not installed by this script" 'remove it, or use --to DIRECTORY'
  previous=$target
}

# The man page and the completions, in directories where man and the shells look for them.
pages='man/man1/tofu-modlock.1 bash-completion/completions/tofu-modlock zsh/site-functions/_tofu-modlock
  fish/vendor_completions.d/tofu-modlock.fish'

# Links them, unless there is a file of someone else.
link_pages() {
  for page in $pages; do
    [ -f "$share/$version/share/$page" ] || continue
    if { [ -e "$to/share/$page" ] || [ -L "$to/share/$page" ]; } && ! is_own_link "$to/share/$page"; then
      say "kept: $to/share/$page, which this script did not install"
    elif ! { mkdir -p -- "$(dirname -- "$to/share/$page")" && ln -sf -- "$share/$version/share/$page" "$to/share/$page"; } 2>/dev/null; then
      say "cannot write: $to/share/$page"
    fi
  done
}

unlink_pages() {
  for page in $pages; do
    ! is_own_link "$to/share/$page" || { rm -f -- "$to/share/$page" && remove_empty "$(dirname -- "$to/share/$page")" "$to/share"; }
  done
}

uninstall() {
  [ -d "$share" ] || fail "tofu-modlock is not installed in $to" 'name the directory with --to'
  check_link
  unlink_pages
  { rm -f -- "$bin/tofu-modlock" && rm -rf -- "$share"; } 2>/dev/null || fail "cannot remove all of $share" 'check its permissions'
  say "removed: $bin/tofu-modlock, $share"
}

main() {
  export LC_ALL=C
  to=
  version=
  sha256=
  action=install
  while [ $# -gt 0 ]; do
    case $1 in
      --to | --version | --sha256)
        [ -n "${2:-}" ] || misused "$1: a value is missing"
        case $1 in
          --to) to=$2 ;;
          --version) version=${2#v} ;;
          --sha256) sha256=$2 ;;
        esac
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
  case ${#sha256}:$sha256 in
    0: | 64:*) other=${sha256#"${sha256%%[!0-9a-f]*}"} ;;
    *) other=$sha256 ;;
  esac
  [ -z "$other" ] || misused "--sha256: expected 64 digits of 0 to 9 and a to f, got $sha256"
  if [ -z "$to" ]; then
    [ -n "${HOME:-}" ] || fail 'HOME is not set' 'set it, or use --to DIRECTORY'
    to=$HOME/.local
  fi
  case $to in
    /*) ;;
    *) to=$PWD/$to ;;
  esac
  to=${to%/}
  cd /  # the current directory may have been removed
  bin=$to/bin
  share=$to/share/tofu-modlock
  work='' placed='' linked='' previous='' share_above='' bin_above=''
  "$action"
}

# Whether HOST or HOST:PORT is this machine. In 127.0.0.1:80@example.test it is not.
is_loopback() {
  for host in 127.0.0.1 localhost '[::1]'; do
    case $1 in
      "$host") return ;;
      "$host":*[!0-9]*) ;;
      "$host":*) return ;;
    esac
  done
  return 1
}

# Sets `repository`, `releases`, `shown`, which is the same without a password, and the `protocols` of curl.
read_addresses() {
  repository=${TOFU_MODLOCK_REPOSITORY:-$published_by}
  repository=${repository%/}
  releases=${TOFU_MODLOCK_RELEASES:-${repository:+$repository/releases}}
  releases=${releases%/}
  case $repository in
    '' | https://*/*/*) ;;
    *) fail "expected https://HOST/OWNER/NAME, got $repository" 'correct TOFU_MODLOCK_REPOSITORY' ;;
  esac
  authority=${releases#*://}
  authority=${authority%%/*}
  shown=$releases
  case $authority in
    *@*) shown=${releases%%://*}://${releases#*"${authority%@*}"@} ;;
  esac
  protocols='=https'
  case $releases in
    '') fail 'the address of the releases is not known' 'use the install.sh of a release, or set TOFU_MODLOCK_RELEASES' ;;
    https://*) return ;;
    http://*) ! is_loopback "$authority" || { protocols='=http,https' && return; } ;;
  esac
  fail "expected an address with https, got $shown" 'correct TOFU_MODLOCK_RELEASES'
}

# Fails if the program $1 does not run, or is another version. Only its output counts: a loader may have a warning.
check_that_it_runs() {
  ran=$("$1" --version 2>"$work/log" </dev/null) && [ "$ran" = "$version" ] && return
  hint='report it to the owners of the repository'
  case $(cat "$work/log") in
    *'ermission denied'*) hint="check that programs may run in $to (noexec), or use --to DIRECTORY" ;;
  esac
  fail "expected $version of the program to run, got: $ran$(cat "$work/log")" "$hint"
}

# Prints that nothing had to be done for $version.
finish_intact() {
  link_pages
  say "installed already: $bin/tofu-modlock, version $version"
  exit 0
}

install() {
  read_addresses
  case $(uname -s):$(uname -m) in
    Linux:x86_64 | Linux:amd64) machine=x86_64 ;;
    Linux:aarch64 | Linux:arm64) machine=aarch64 ;;
    Linux:*) fail "there is no release for Linux on $(uname -m)" 'build the program (docs/install.md)' ;;
    *) fail "there is no release for $(uname -s) on $(uname -m)" 'use the container image (docs/install.md)' ;;
  esac
  for tool in tar gzip sha256sum mktemp; do
    command -v "$tool" >/dev/null || fail "$tool not found" 'install it'
  done
  check_link
  [ -n "$sha256" ] || [ -z "$version" ] || ! is_intact "$version" || finish_intact
  choose_downloader
  ask_gh
  case $downloader:$protocols:$sha256:$unchecked in
    'other wget:=https::'?*)
      fail 'this wget checks no certificates, so that anyone can answer' \
        'install curl or GNU wget, or use --sha256 with the checksum of the tarball from a place that you trust'
      ;;
  esac

  share_above=$(existing_above "$share")
  bin_above=$(existing_above "$bin")
  trap clean_up EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
  if ! reason=$(mkdir -p -- "$share" "$bin" 2>&1); then
    :
  elif [ ! -w "$bin" ]; then
    reason='Permission denied'
  else
    # The second attempt is for its message. If it succeeds, its directory is used.
    work=$(mktemp -d "$share/.install.XXXXXX" 2>/dev/null) ||
      { reason=$(mktemp -d "$share/.install.XXXXXX" 2>&1) && work=$reason; } || :
  fi
  [ -n "$work" ] || fail "cannot write to $share and $bin: ${reason##*: }" 'check their permissions, or use --to DIRECTORY'

  tarball=
  if [ -z "$version" ]; then
    download latest/download/SHA256SUMS "$work/SHA256SUMS" 'check that there is a release'
    read_checksums "$work/SHA256SUMS"
    version=$listed
    case $version in
      '' | *[!0-9A-Za-z.+-]* | [!0-9]*) fail 'the newest release has no tarball' 'name a release with --version' ;;
    esac
    [ -n "$sha256" ] || ! is_intact "$version" || finish_intact
  fi
  tarball=tofu-modlock-$version-linux-$machine.tar.gz
  place="download/v$version"
  named='SHA256SUMS has'
  if [ -n "$sha256" ]; then
    expected=$sha256
    named='--sha256 is'
  else
    download "$place/SHA256SUMS" "$work/SHA256SUMS" "check that there is a release $version"
    read_checksums "$work/SHA256SUMS"
    [ -n "$expected" ] || fail "the release $version has no tarball for $machine${machines:+, only for $machines}" \
      'use the container image or another release, or build the program (docs/install.md)'
  fi
  installed=${previous#"$share"/}
  installed=${installed%%/*}
  [ -z "$installed" ] || ! is_older "$version" "$installed" || say "downgrade: from $installed to $version"
  say "downloading: $shown/$place/$tarball"
  download "$place/$tarball" "$work/$tarball" "check that there is a release $version for $machine"
  actual=$(sha256sum <"$work/$tarball")
  [ "${actual%% *}" = "$expected" ] ||
    fail "$tarball has the checksum ${actual%% *}, and $named $expected" \
      'try again; if it fails again, do not use this file and report it to the owners of the repository'
  say "checksum: verified, $tarball"
  check_attestation "$work/$tarball"

  mkdir -- "$work/$version"
  { gzip -dc <"$work/$tarball" | tar -xf - -C "$work/$version" --strip-components 1; } 2>"$work/log" ||
    fail "cannot unpack $tarball: $(cat "$work/log")" 'report it to the owners of the repository'
  (cd "$work/$version" && find . -type f -exec sha256sum {} + >"$work/sums" && mv -- "$work/sums" .sha256) 2>/dev/null
  check_that_it_runs "$work/$version/bin/tofu-modlock"

  if [ -e "$share/$version" ]; then
    { mkdir -- "$work/replaced" && mv -- "$share/$version" "$work/replaced/"; } ||
      fail "cannot replace $share/$version" 'check its permissions'
  fi
  mv -- "$work/$version" "$share/" || fail "cannot write $share/$version" 'check its permissions'
  placed=yes
  ln -s -- "$share/$version/bin/tofu-modlock" "$work/new" || fail "cannot write to $share" 'check the free space'
  linked=yes
  mv -f -- "$work/new" "$bin/tofu-modlock" || fail "cannot write $bin/tofu-modlock" 'check its permissions'
  check_that_it_runs "$bin/tofu-modlock"

  # From here on the new version stays.
  placed=
  link_pages
  for other in "$share"/[0-9]*; do
    [ "$other" = "$share/$version" ] || [ ! -d "$other/lib/tofu-modlock" ] || { rm -rf -- "$other" && say "removed: $other"; }
  done
  say "installed: $bin/tofu-modlock, version $version"
  case :$PATH: in
    *":$bin:"*) ;;
    *)
      say "$bin is not on PATH"
      [ -n "${CI:-}" ] || say "Add it, for example in ~/.profile: export PATH=\"$bin:\$PATH\""
      ;;
  esac
}

# The shell has read the whole script before it runs a line of it.
main "$@"
