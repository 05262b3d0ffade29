"""List the versions of git repositories, against `git ls-remote --tags`."""

import json
import os
import statistics
import subprocess
import time

import processes
from git_server import GitServer
from session import Session
from table import print_table, ratio, seconds, verdict

TAGS = 10_000
REPOSITORIES = 32
IN_FLIGHT = 8  # maxInFlight of `initialize`
GOAL_ONE = 1.0
GOAL_MANY = 0.5


def make_repository(path, tags, environment):
    """A bare repository of one commit that all tags name."""
    def git(*arguments):
        return subprocess.run(["git", "--git-dir", path, "-c", "user.name=x", "-c", "user.email=x@example.test",
                               *arguments], check=True, env=environment, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL).stdout.strip()
    subprocess.run(["git", "init", "--quiet", "--bare", "--template=", path], check=True, env=environment)
    commit = git("commit-tree", "-m", "x", git("hash-object", "-w", "-t", "tree", "/dev/null"))
    git("update-ref", "refs/heads/main", commit)
    git("symbolic-ref", "HEAD", "refs/heads/main")
    names = sorted("refs/tags/v1.%d.%d" % divmod(number, 100) for number in range(tags))
    with open(os.path.join(path, "packed-refs"), "w") as file:
        file.write("# pack-refs with: peeled fully-peeled sorted \n")
        file.writelines("%s %s\n" % (commit, name) for name in names)


def list_all(session, sources):
    """How many versions all of them have."""
    found = 0
    for number, source in enumerate(sources):
        if number >= IN_FLIGHT:
            found += len(session.answer()["versions"])
        session.send("versions/list", {"source": source}, number + 1)
    for _ in range(min(IN_FLIGHT, len(sources))):
        found += len(session.answer()["versions"])
    return found


def session_seconds(options, environment, sources, cache, expected):
    started = time.monotonic()
    session = Session(options.modlock, environment, {"implementation": "opentofu", "implementationVersion": "1.10.0",
                                                     "cacheDir": cache})
    try:
        found = list_all(session, sources)
        took = time.monotonic() - started
    finally:
        processes.end_group(session.process)
    if found != expected:
        raise SystemExit("%d versions were listed, %d expected" % (found, expected))
    return took


def git_seconds(environment, urls):
    """All at the same time, a process each."""
    started = time.monotonic()
    children = [subprocess.Popen(["git", "ls-remote", "--tags", url], env=environment, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL) for url in urls]
    if any([child.wait() for child in children]):
        raise SystemExit("git ls-remote failed")
    return time.monotonic() - started


def row(what, ours, theirs, goal):
    return [what, seconds(ours), seconds(theirs), ratio(ours, theirs),
            "<= %.1f of the time: %s" % (goal, verdict(ours <= goal * theirs))]


def environment_of(home, server):
    environment = {"PATH": os.environ["PATH"], "HOME": os.path.join(home, "user"), "GIT_CONFIG_NOSYSTEM": "1",
                   "GIT_SSL_CAINFO": server.authority, "SSL_CERT_FILE": server.authority, "LANG": "C.UTF-8"}
    os.makedirs(environment["HOME"], exist_ok=True)
    return environment


def measure_one(options, home):
    """One repository of many tags, without delay; whole processes on both sides."""
    rows = []
    with GitServer(os.path.join(home, "near"), os.path.join(home, "tagged"), 0) as server:
        environment = environment_of(home, server)
        make_repository(os.path.join(server.repositories, "many.git"), TAGS, environment)
        for name, base in (("http", server.plain_url), ("https", server.url)):
            url = base + "/many.git"
            ours, theirs = [], []
            command = [options.modlock, "versions", "git::" + url, "--json", "--cache-dir", os.path.join(home, "c")]
            for _ in range(options.repeat):
                theirs.append(git_seconds(environment, [url]))
                result = processes.must_run(command, environment, home)
                ours.append(result.seconds)
                if len(json.loads(result.stdout)["versions"]) != TAGS:
                    raise SystemExit("not all %d tags were listed" % TAGS)
            rows.append(row("%d tags over %s, whole process" % (TAGS, name), statistics.median(ours),
                            statistics.median(theirs), GOAL_ONE))
            ours = [session_seconds(options, environment, ["git::" + url], os.path.join(home, "c"), TAGS)
                    for _ in range(options.repeat)]
            rows.append(row("%d tags over %s, one session" % (TAGS, name), statistics.median(ours),
                            statistics.median(theirs), GOAL_ONE))
    return rows


def measure_many(options, home):
    """Many repositories behind the delay."""
    with GitServer(os.path.join(home, "far"), os.path.join(home, "many"), options.round_trip_ms / 2) as server:
        environment = environment_of(home, server)
        names = ["r%02d.git" % number for number in range(REPOSITORIES)]
        for name in names:
            make_repository(os.path.join(server.repositories, name), 20, environment)
        urls = ["%s/%s" % (server.url, name) for name in names]
        ours, theirs = [], []
        for _ in range(options.repeat):
            theirs.append(git_seconds(environment, urls))
            server.take_counts()
            ours.append(session_seconds(options, environment, ["git::" + url for url in urls],
                                        os.path.join(home, "c"), 20 * REPOSITORIES))
            requests, connections = server.take_counts()
    return [row("%d repositories, %g ms round trip" % (REPOSITORIES, options.round_trip_ms), statistics.median(ours),
                statistics.median(theirs), GOAL_MANY),
            ["requests (connections) of those", "%d (%d)" % (requests, connections), "", "", ""]]


def measure(options, home):
    home = os.path.join(home, "listing")
    os.makedirs(home)
    rows = measure_one(options, home) + measure_many(options, home)
    print_table("versions of git repositories", ["measure", "tofu-modlock", "git ls-remote --tags", "ratio", "goal"],
                rows)
