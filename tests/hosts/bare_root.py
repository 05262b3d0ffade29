"""A root file system of its own for a command: another user, home, PATH and variables. Needs root."""

import os
import pathlib
import shutil
import subprocess

os.umask(0o022)  # the user reads what a test makes

# Makes the root from the arguments, and becomes the user. Everything that is mounted ends with the process.
ENTER = """
root=$1 user=$2 mode=$3 directory=$4
shift 4
mount -t tmpfs -o mode=755 tmpfs "$root"
while [ "$1" != -- ]; do
  if [ -d "$1" ]; then mkdir -p "$root$2"; else mkdir -p "$root${2%/*}" && : >"$root$2"; fi
  mount --rbind "$1" "$root$2"
  shift 2
done
shift
while [ "$1" != -- ]; do
  mkdir -p "$root${1%/*}"
  ln -s "$2" "$root$1"
  shift 2
done
shift
[ "$mode" = rw ] || mount -o remount,ro "$root"
exec chroot --userspec "+$user:+$user" --groups= "$root" sh -c 'cd "$0" && exec "$@"' "$directory" "$@"
"""


def missing():
    """Why no such root can be made, or None."""
    if os.geteuid() != 0:
        return "needs root"
    if not shutil.which("unshare"):
        return "needs unshare"
    ran = subprocess.run(["unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/proc"], capture_output=True, check=False)
    return None if ran.returncode == 0 else "needs mount namespaces"


def system_binds():
    """What programs of this machine need: /usr, devices, processes. The symbolic links of a merged /usr are made again."""
    places = [pathlib.Path("/") / name for name in ("bin", "sbin", "lib", "lib64")]
    links = {str(place): os.readlink(place) for place in places if place.is_symlink()}
    binds = {str(place): str(place) for place in places if place.is_dir() and not place.is_symlink()}
    return {"/usr": "/usr", "/dev": "/dev", "/proc": "/proc"} | binds, links


class Root:
    """`binds` maps places inside to directories and files of this machine; `links` are symbolic links."""

    def __init__(self, directory, binds, links=None, read_only=False):
        self.directory = pathlib.Path(directory)
        self.directory.mkdir(exist_ok=True)
        self.binds = binds
        self.links = links or {}
        self.read_only = read_only

    def run(self, command, user=0, variables=None, directory="/", timeout=120):
        """Runs a command, with only these variables, in a directory of the root."""
        binds = [part for place, source in self.binds.items() for part in (str(source), place)]
        links = [part for pair in self.links.items() for part in pair]
        return subprocess.run(
            ["unshare", "--mount", "--propagation", "private", "sh", "-euc", ENTER, "sh", str(self.directory), str(user),
             "ro" if self.read_only else "rw", directory, *binds, "--", *links, "--",
             "env", "-i", *(f"{name}={value}" for name, value in (variables or {}).items()), *command],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=timeout, check=False)
