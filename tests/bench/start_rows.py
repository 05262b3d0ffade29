"""What a host pays before its first request: time to start and initialize, memory while idle."""

import json
import os
import shutil
import statistics
import subprocess
import time

import processes
from table import print_table, ratio, seconds, verdict

GOAL_SECONDS = 0.020
GOAL_KIB = 20 * 1024
INITIALIZE = {"protocolVersions": ["1.0"], "clientInfo": {"name": "bench", "version": "1"},
              "options": {"implementation": "opentofu", "implementationVersion": "1.10.0"}}


def frame(method, number=None, params=None):
    message = {"jsonrpc": "2.0", "method": method}
    if number is not None:
        message["id"] = number
    if params is not None:
        message["params"] = params
    return json.dumps(message).encode() + b"\n"


class Session:
    def __init__(self, modlock, environment):
        self.process = subprocess.Popen([modlock, "serve"], env=environment, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, start_new_session=True, bufsize=0)

    def send(self, *frames):
        self.process.stdin.write(b"".join(frames))

    def reply(self):
        line = b""
        while not line.endswith(b"\n"):
            piece = self.process.stdout.read(65536)
            if not piece:
                raise SystemExit("the session ended early, after %r" % line)
            line += piece
        message = json.loads(line)
        if "result" not in message:
            raise SystemExit("the session answered %s" % message)
        return message

    def end(self):
        self.send(frame("shutdown", 2))
        self.reply()
        self.send(frame("exit"))
        if self.process.wait(timeout=30) != 0:
            raise SystemExit("the session ended with exit %d" % self.process.returncode)

    def resident_kib(self):
        with open("/proc/%d/status" % self.process.pid) as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmRSS:"))

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        processes.end_group(self.process)


def one_session(modlock, environment):
    """(seconds until it has exited, KiB resident once initialized); reading the memory is not part of the time."""
    started = time.monotonic()
    session = Session(modlock, environment)
    try:
        session.send(frame("initialize", 1, INITIALIZE))
        session.reply()
        session.send(frame("initialized"))
        paused = time.monotonic()
        resident = session.resident_kib()
        resumed = time.monotonic()
        session.end()
        return time.monotonic() - started - (resumed - paused), resident
    finally:
        session.close()


def measure(options, home):
    environment = {"PATH": os.environ["PATH"], "HOME": home, "LANG": "C.UTF-8"}
    times, resident, git = [], [], []
    for _ in range(max(30, 10 * options.repeat)):
        took, kib = one_session(options.modlock, environment)
        times.append(took)
        resident.append(kib)
        if shutil.which("git"):
            git.append(processes.must_run(["git", "--version"], environment).seconds)
    median = statistics.median(times)
    kib = statistics.median(resident)
    rows = [
        ["start, initialize, shutdown: median", seconds(median), seconds(GOAL_SECONDS), verdict(median <= GOAL_SECONDS)],
        ["start, initialize, shutdown: fastest", seconds(min(times)), "", ""],
        ["resident while idle", "%.1f MiB" % (kib / 1024), "%d MiB" % (GOAL_KIB // 1024), verdict(kib <= GOAL_KIB)],
    ]
    if git:
        rows.insert(2, ["`git --version` takes, against that", seconds(statistics.median(git)), "",
                        "ratio " + ratio(median, statistics.median(git))])
    print_table("A session (%d runs)" % len(times), ["measure", "tofu-modlock", "goal", ""], rows)
