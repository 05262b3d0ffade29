"""What a session carries: small requests on one core, and how long a ping waits while plans run."""

import os
import re
import statistics
import subprocess
import threading
import time

import processes
from start_rows import INITIALIZE, frame
from table import print_table, seconds, verdict

GOAL_RATE = 1000
GOAL_WAIT = 0.010
WINDOW = 32  # requests on their way
PLANS = 8
ANSWER = re.compile(rb'{"jsonrpc":"2.0","id":(\d+),"result":')
MODULES = 200  # of the root that is planned


class Host:
    """A session whose answers are taken by a thread as they come, each with its moment."""

    def __init__(self, modlock, environment, core=None):
        pin = (lambda: os.sched_setaffinity(0, {core})) if core is not None else None
        self.process = subprocess.Popen([modlock, "serve"], env=environment, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, start_new_session=True, bufsize=0, preexec_fn=pin)
        self.changed = threading.Condition()
        self.answers = {}
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        self.ask(0, "initialize", INITIALIZE)
        self.wait(0)

    def read(self):
        with os.fdopen(os.dup(self.process.stdout.fileno()), "rb") as lines:
            for line in lines:
                moment = time.monotonic()
                answer = ANSWER.match(line)  # plans are long: not all of it is read
                number = int(answer[1]) if answer else "no result: %s" % line[:300]
                with self.changed:
                    self.answers[number] = moment
                    self.changed.notify_all()

    def ask(self, number, method, params=None):
        self.process.stdin.write(frame(method, number, params))

    def wait(self, number):
        """The moment of an answer."""
        with self.changed:
            while number not in self.answers:
                wrong = [key for key in self.answers if isinstance(key, str)]
                if wrong:
                    raise SystemExit(wrong[0])
                if not self.changed.wait(timeout=60):
                    raise SystemExit("no answer to %s" % number)
            return self.answers.pop(number)

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        processes.end_group(self.process)


def rate(host, first, count, method, params):
    """Requests per second, with WINDOW of them on their way."""
    started = time.monotonic()
    for number in range(first, first + count):
        host.ask(number, method, params)
        if number - first >= WINDOW:
            host.wait(number - WINDOW)
    for number in range(first + count - min(WINDOW, count), first + count):
        last = host.wait(number)
    return count / (last - started)


def overlay(root):
    text = 'module "a" {\n  source  = "example/a/null"\n  version = "~> 1.0"\n}\n'
    return {"root": root, "documents": [{"path": "main.tf", "text": text}]}


def planned_root(home):
    """A root of local modules only: a plan of it asks nobody and works all the time."""
    root = os.path.join(home, "planned")
    calls = []
    for number in range(MODULES):
        directory = os.path.join(root, "m%d" % number)
        os.makedirs(directory)
        with open(os.path.join(directory, "main.tf"), "w") as file:
            file.write("".join('variable "v%d" {\n  default = "%d"\n}\n' % (i, i) for i in range(40)))
        calls.append('module "m%d" {\n  source = "./m%d"\n}\n' % (number, number))
    with open(os.path.join(root, "main.tf"), "w") as file:
        file.write("".join(calls))
    return root


def waits_under_load(host, root, pings):
    """How long each ping took, one every 5 ms, while PLANS plans run; and how many plans ended meanwhile."""
    stop = threading.Event()
    ended = [0]

    def plan(worker):
        number = 1_000_000 * (worker + 1)
        while not stop.is_set():
            host.ask(number, "lock/plan", {"root": root})
            host.wait(number)
            ended[0] += 1
            number += 1

    planners = [threading.Thread(target=plan, args=(worker,)) for worker in range(PLANS)]
    for planner in planners:
        planner.start()
    waits = []
    for number in range(1, pings + 1):
        asked = time.monotonic()
        host.ask(number, "ping")
        waits.append(host.wait(number) - asked)
        time.sleep(0.005)
    stop.set()
    for planner in planners:
        planner.join()
    return sorted(waits), ended[0]


def measure(options, home):
    environment = {"PATH": os.environ["PATH"], "HOME": home, "LANG": "C.UTF-8"}
    empty = os.path.join(home, "overlaid")
    os.makedirs(empty)
    host = Host(options.modlock, environment, core=0)
    try:
        pings = statistics.median(rate(host, 10_000 * (i + 1), 5000, "ping", None) for i in range(options.repeat))
        inspects = statistics.median(rate(host, 500_000 + 10_000 * i, 2000, "config/inspect", overlay(empty))
                                     for i in range(options.repeat))
    finally:
        host.close()
    host = Host(options.modlock, environment)
    try:
        waits, plans = waits_under_load(host, planned_root(home), 1000)
    finally:
        host.close()
    p99 = waits[len(waits) * 99 // 100]
    print_table("Small requests", ["measure", "tofu-modlock", "goal", ""], [
        ["`ping`, serve on one core", "%d per second" % pings, "%d" % GOAL_RATE, verdict(pings >= GOAL_RATE)],
        ["`config/inspect` of an overlay, serve on one core", "%d per second" % inspects, "%d" % GOAL_RATE,
         verdict(inspects >= GOAL_RATE)],
        ["`ping` while %d plans run (%d ended): 99 of 100 within" % (PLANS, plans), seconds(p99), seconds(GOAL_WAIT),
         verdict(p99 <= GOAL_WAIT)],
        ["median, slowest", "%s, %s" % (seconds(statistics.median(waits)), seconds(waits[-1])), "", ""],
    ])
