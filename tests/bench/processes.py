"""Child processes of the benchmark: each in a process group of its own that never outlives the benchmark."""

import os
import resource
import signal
import subprocess
import time
from dataclasses import dataclass

TIMEOUT = 900


@dataclass
class Run:
    seconds: float
    processor_seconds: float  # of the command and all that it waited for
    stdout: str
    stderr: str
    exit_code: int


def end_group(process):
    """Ends the process and whatever it has started."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except (ProcessLookupError, PermissionError):
            break
        try:
            process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            pass
    process.wait()


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(command, environment, directory=None, stdout=subprocess.PIPE):
    """Runs a command to its end and measures it. `stdout`: a file that takes what it prints instead of the result."""
    used = processor_seconds()
    started = time.monotonic()
    process = subprocess.Popen(command, cwd=directory, env=environment, stdin=subprocess.DEVNULL,
                               stdout=stdout, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        printed, stderr = process.communicate(timeout=TIMEOUT)
        seconds = time.monotonic() - started
        return Run(seconds, processor_seconds() - used, printed or "", stderr, process.returncode)
    finally:
        end_group(process)


def must_run(command, environment, directory=None):
    result = run(command, environment, directory)
    if result.exit_code != 0:
        raise SystemExit("%s: exit %d\n%s%s" % (" ".join(command), result.exit_code, result.stdout, result.stderr))
    return result
