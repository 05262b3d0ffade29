"""Lock and install modules of all kinds behind a delay, against the init of a stock client; packages of 100 MB."""

import hashlib
import io
import json
import os
import random
import select
import shutil
import ssl
import statistics
import subprocess
import tarfile
import time
import urllib.request
import zipfile
import zlib
from collections import defaultdict

import processes
import source_server
from module_rows import Bench, check_manifest, check_same, seen
from source_server import SourceServer
from source_tree import KINDS, SourceTree
from table import print_table, ratio, seconds, verdict

GOAL_RATIO = 10
GOAL_RATIO_HTTP2 = 12
GOAL_RATIO_RUNNER = 25
GOAL_SHARE = 0.8
GOAL_KIB = 64 * 1024
PACKAGE_BYTES = 100_000_000  # on the wire
FILES = 50


def can_oci(bench):
    """OpenTofu can from 1.10 on."""
    words = bench.client_name().split()
    return words[0] == "OpenTofu" and tuple(map(int, words[1].lstrip("v").split("-")[0].split("."))) >= (1, 10)


def run_runner(bench, tree, samples):
    """Installs on a runner that starts empty, only from a registry that has the closure."""
    root, cache = bench.fresh("runner"), bench.fresh("cache")
    tree.write_pinned_root(root)
    with open(os.path.join(root, ".tofu-modlock.hcl"), "w") as file:
        file.write('implementation = "opentofu"\n')
    remote = "oci://%s/fleet/modules" % bench.server.oci
    common = ["--chdir", root, "--cache-dir", cache]
    processes.must_run([bench.options.modlock, "lock", *common], bench.environment, bench.home)
    processes.must_run([bench.options.modlock, "bundle", "push", remote, *common], bench.environment, bench.home)
    bench.fresh("cache")
    bench.timed(samples, "runner", [bench.options.modlock, "install", "--remote-only", "--from", remote, *common],
                bench.home)
    return root


def measure_tree(bench, options, kinds, with_client):
    tree = SourceTree(kinds, bench.server)
    tree.publish()
    samples, files = defaultdict(list), 0
    for _ in range(options.repeat):
        theirs = bench.run_client(tree, samples) if with_client else None
        ours = bench.run_modlock(tree, samples)
        runner = run_runner(bench, tree, samples)
        check_manifest(ours, tree)
        check_manifest(runner, tree)
        check_same(ours, runner)
        if theirs:
            check_manifest(theirs, tree)
            files = check_same(ours, theirs)
    middle = {name: statistics.median(samples[name]) for name in samples
              if not name.endswith((", seen", ", stats"))}
    requests = sum(samples[name + ", seen"][-1][0] for name in ("lock", "install"))
    http2 = bench.server.http2
    round_trips = tree.least_round_trips()

    def row(what, ours, theirs, goal=None):
        if not with_client:
            return [what, seconds(middle[ours]), "", "", ""]
        speed = middle[theirs] / middle[ours]
        return [what, seconds(middle[ours]), seconds(middle[theirs]), ratio(middle[ours], middle[theirs]),
                ">= %d: %s" % (goal, verdict(speed >= goal)) if goal else ""]

    calls = list(tree.walk())
    print_table("%d calls of %s modules, three levels, %d packages, %g ms round trip, HTTP/%s" %
                (len(calls), ", ".join(kinds), len(tree.by_name), options.round_trip_ms, "2" if http2 else "1.1"),
                ["measure", "tofu-modlock", bench.client_name() if with_client else "", "ratio", "goal"], [
        row("lock, then install, cold (init, cold)", "lock + install", "client cold",
            GOAL_RATIO_HTTP2 if http2 else GOAL_RATIO),
        row("lock --install, cold (init, cold)", "both", "client cold"),
        row("lock, cold", "lock", "client cold"),
        row("install, cache filled by lock", "install", "client cold"),
        row("processor time of lock --install (of init)", "both, processor", "client cold, processor"),
        row("install, empty runner, from a remote store (init, cold)", "runner", "client cold", GOAL_RATIO_RUNNER),
        ["requests (connections) at the servers", seen(samples, "lock", "install"),
         seen(samples, "client cold") if with_client else "", "",
         "%d: %s" % (tree.least_requests(), verdict(requests <= tree.least_requests()))],
        ["round trips one after the other, at least", "%d: %s" %
         (round_trips, seconds(round_trips * options.round_trip_ms / 1000)), "", "", ""],
    ])
    if files:
        print("\nBoth installed the same %d files in the same directories." % files)


def package_files():
    """Name -> bytes of a package that halves when packed: random digits."""
    source = random.Random(100)
    return {"main.tf": b"", **{"data/%02d.txt" % i: source.randbytes(PACKAGE_BYTES // FILES * 7 // 8).hex().encode()
                               for i in range(FILES)}}


def pack(files, kind):
    packed = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for name, content in files.items():
                archive.writestr(name, content)
    else:
        with tarfile.open(fileobj=packed, mode="w:gz", compresslevel=1) as archive:
            for name, content in files.items():
                entry = tarfile.TarInfo(name)
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


def timed(action):
    started = time.monotonic()
    action()
    return time.monotonic() - started


def write_all(directory, files):
    """As a client has to: the files of the package, on the disk when it returns."""
    os.makedirs(directory)
    for name, content in files.items():
        with open(os.path.join(directory, os.path.basename(name)), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())


def floors(home, files, packed):
    """Seconds for what the package cannot do without, each alone: write it, inflate it, hash archive and files."""
    stream = zlib.compress(b"".join(files.values()), 1)
    measured = {
        "disk": timed(lambda: write_all(os.path.join(home, "written"), files)),
        "inflate": timed(lambda: inflate(stream)),
        "SHA-256": timed(lambda: [hashlib.sha256(content) for content in (packed, *files.values())]),
    }
    shutil.rmtree(os.path.join(home, "written"))
    return measured


def inflate(stream):
    inflating = zlib.decompressobj()
    for start in range(0, len(stream), 65536):
        inflating.decompress(stream[start:start + 65536])


def download(url, authority):
    context = ssl.create_default_context(cafile=authority) if url.startswith("https:") else None
    with urllib.request.urlopen(url, context=context) as response:
        while response.read(1 << 20):
            pass


def run_with_peak(command, environment, directory):
    """(seconds, KiB at most resident): the peak as the kernel keeps it, read until the process has exited."""
    started = time.monotonic()
    process = subprocess.Popen(command, env=environment, cwd=directory, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True)
    ending = os.pidfd_open(process.pid)
    peak = 0
    try:
        # Seldom: each look takes the processor from what is measured.
        while not select.select([ending], [], [], 0.02)[0]:
            with open("/proc/%d/status" % process.pid) as file:
                peak = max([peak] + [int(line.split()[1]) for line in file if line.startswith("VmHWM:")])
        took = time.monotonic() - started
        if process.wait():
            raise SystemExit("%s: exit %d\n%s" % (" ".join(command), process.returncode, process.stderr.read()))
        return took, peak
    finally:
        os.close(ending)
        process.stderr.close()
        processes.end_group(process)


def measure_package(bench, options, name, source, url, files, packed):
    """Locks and installs `source`, whose package lies at `url`."""
    root = bench.fresh("large")
    os.makedirs(root)
    with open(os.path.join(root, "main.tf"), "w") as file:
        file.write('module "large" {\n  source = "%s"\n}\n' % source)
    with open(os.path.join(root, ".tofu-modlock.hcl"), "w") as file:
        file.write('implementation = "opentofu"\n')
    samples, least = defaultdict(list), defaultdict(list)
    for _ in range(options.repeat):
        for left in ("cache", "large/.terraform"):
            bench.fresh(left)
        if os.path.exists(os.path.join(root, ".terraform.lock.hcl")):
            os.remove(os.path.join(root, ".terraform.lock.hcl"))
        for verb in ("lock", "install"):
            took, peak = run_with_peak([options.modlock, verb, "--chdir", root, "--cache-dir",
                                        os.path.join(bench.home, "cache")], bench.environment, bench.home)
            samples[verb].append(took)
            samples["peak"].append(peak)
        for what, took in floors(bench.home, files, packed).items():
            least[what].append(took)
        samples["transfer"].append(timed(lambda: download(url, bench.server.authority)))
    least = {what: statistics.median(values) for what, values in least.items()}
    slowest = max(least, key=least.get)
    took, peak = statistics.median(samples["lock"]), max(samples["peak"])
    size = len(packed) / 1e6
    return [
        ["%s, lock" % name, "%s, %.0f MB/s" % (seconds(took), size / took),
         "%s: %s" % (slowest, seconds(least[slowest])), "%.2f" % (least[slowest] / took),
         ">= %.1f: %s" % (GOAL_SHARE, verdict(least[slowest] / took >= GOAL_SHARE))],
        ["%s, install from the cache" % name, seconds(statistics.median(samples["install"])), "", "", ""],
        ["%s, resident at most" % name, "%.1f MiB" % (peak / 1024), "", "",
         "<= %d MiB: %s" % (GOAL_KIB // 1024, verdict(peak <= GOAL_KIB))],
        ["disk, inflate, SHA-256 alone; transfer", "", "%s; %s" % (
            ", ".join(seconds(least[what]) for what in ("disk", "inflate", "SHA-256")),
            seconds(statistics.median(samples["transfer"]))), "", ""],
    ]


def measure_packages(options, home):
    with SourceServer(os.path.join(home, "near"), os.path.join(home, "none"), 0) as server:
        bench = Bench(options, home, server)
        files, rows = package_files(), []
        for kind in ("tar.gz", "zip"):
            packed = pack(files, kind)
            server.publish("archives/large." + kind, packed)
            url = "%s/archives/large.%s" % (server.plain_url, kind)
            rows += measure_package(bench, options, "%s over http" % kind, url, url, files, packed)
        server.push("bench/large", ["1.0.0"], packed)
        rows += measure_package(bench, options, "OCI", "oci://%s/bench/large?tag=1.0.0" % server.oci,
                                "https://%s/archives/large.zip" % server.oci, files, packed)
        print_table("a package of %.0f MB, %.0f MB unpacked" %
                    (len(packed) / 1e6, sum(map(len, files.values())) / 1e6),
                    ["measure", "tofu-modlock", "the slowest of its parts", "share", "goal"], rows)


def measure(options, home):
    home = os.path.join(home, "sources")
    missing = source_server.missing_programs()
    if missing:
        print("\nskipped: modules of all kinds (not found: %s)" % ", ".join(missing))
        return
    for http2 in (False, True):
        place = os.path.join(home, "http2" if http2 else "http1")
        with SourceServer(os.path.join(place, "far"), os.path.join(place, "repositories"), options.round_trip_ms / 2,
                          http2) as server:
            bench = Bench(options, place, server)
            oci = bool(options.client) and can_oci(bench)
            measure_tree(bench, options, KINDS, oci)
            if options.client and not oci:
                measure_tree(bench, options, KINDS[:2], True)
    measure_packages(options, home)
