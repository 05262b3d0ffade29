#!/usr/bin/env python3
"""Runs docs/restricted-network.md where there is no network but the loopback interface: network_test.py BINARY.

The servers of pages_test.py run in the same network namespace. Exit: 77 if this machine does not allow one.
"""
import errno
import fcntl
import shutil
import socket
import struct
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
NAMESPACE = ["unshare", "--map-root-user", "--net"]
GET_FLAGS, SET_FLAGS, IS_UP = 0x8913, 0x8914, 1  # SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP


def missing():
    """Why there is no namespace, or None."""
    if not shutil.which("unshare"):
        return "needs unshare"
    if not (shutil.which("docker-registry") and shutil.which("htpasswd")):
        return "needs docker-registry and htpasswd"
    return None if subprocess.run([*NAMESPACE, "true"], capture_output=True, check=False).returncode == 0 else "needs network namespaces"


def start_loopback():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        name = b"lo".ljust(16, b"\0")
        flags = struct.unpack("16sh", fcntl.ioctl(control, GET_FLAGS, struct.pack("16sh", name, 0)))[1]
        fcntl.ioctl(control, SET_FLAGS, struct.pack("16sh", name, flags | IS_UP))


def can_reach(address):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        return probe.connect_ex((address, 9)) != errno.ENETUNREACH


def main():
    if sys.argv[1:2] != ["--inside"]:
        if reason := missing():
            print(f"skipped: {reason}")
            return 77
        return subprocess.run([*NAMESPACE, sys.executable, __file__, "--inside", *sys.argv[1:]], check=False).returncode
    start_loopback()
    if can_reach("192.0.2.1") or not can_reach("127.0.0.1"):  # connects to nothing: such a socket sends no packet
        print("this is no network of the loopback alone")
        return 1
    return subprocess.run([sys.executable, HERE / "pages_test.py", sys.argv[2], "Pages.test_restricted_network"], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
