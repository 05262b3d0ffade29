"""Install on empty machines from an OCI registry, against curl and tar and a CI cache; many of them behind an HTTP cache."""

import glob
import os
import re
import shutil
import statistics
import subprocess
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor

import processes
import source_server
from module_rows import Bench, check_manifest, check_same, seen
from source_rows import pack, package_files, run_with_peak
from source_server import SourceServer
from source_tree import KINDS, SourceTree
from table import print_table, ratio, seconds, verdict

GOAL = 0.3  # seconds
GOAL_CURL = 1.3  # times curl and tar
GOAL_KIB = 64 * 1024
RUNNERS = 200
AT_A_TIME = 16
STORE = "fleet/modules"

# /v2/cached is the store behind an HTTP cache; /v2/guarded needs a token and has its blobs on another host.
HTTP = """
map $http_host $port {{ ~:(?<number>[0-9]+)$ $number; }}
log_format cache '$upstream_cache_status $body_bytes_sent $request_uri';
proxy_cache_path {home}/cache keys_zone=fleet:1m;
"""
LOCATIONS = """
location /v2/cached/ {{
  proxy_pass http://unix:{home}/oci.socket:/v2/fleet/;
  proxy_cache fleet;
  proxy_cache_lock on;
  proxy_cache_valid 200 10m;
  access_log {home}/access.log request;
  access_log {home}/cache.log cache;
}}
location ~ ^/v2/guarded/(?<rest>.*)$ {{
  if ($http_authorization != "Bearer bench") {{
    add_header WWW-Authenticate 'Bearer realm="https://localhost:$port/token",service="bench"' always;
    return 401;
  }}
  if ($rest ~ ^modules/blobs/(?<digest>.+)$) {{
    return 307 https://localhost:$port/storage/$digest;
  }}
  proxy_pass http://unix:{home}/oci.socket:/v2/fleet/$rest;
}}
location = /token {{ default_type application/json; return 200 '{{"token":"bench"}}'; }}
location /storage/ {{ proxy_pass http://unix:{home}/oci.socket:/v2/fleet/modules/blobs/; }}
"""


class StoreServer(SourceServer):
    def prepare(self):
        super().prepare()
        for name, text in (("fleet.http", HTTP), ("fleet.locations", LOCATIONS)):
            with open(self.path(name), "w") as file:
                file.write(text.format(home=self.home))

    def store(self, prefix="fleet"):
        return "oci://%s/%s/modules" % (self.oci, prefix)

    def requests_by_cache(self):
        """How many requests the cache answered, with how many bytes, and the paths that it requested from the registry."""
        with open(self.path("cache.log")) as file:
            lines = [line.split() for line in file.read().splitlines()]
        return (len(lines), sum(int(size) for _, size, _ in lines),
                Counter(path for status, _, path in lines if status != "HIT"))

    def processor_seconds(self, name):
        """Of the processes of a program that this server started."""
        ticks = 0
        for child in self.children:
            with open("/proc/%d/stat" % child.pid) as file:
                words = file.read().rpartition(")")[2].split()
            with open("/proc/%d/comm" % child.pid) as file:
                ticks += sum(map(int, words[11:13])) if file.read().strip().startswith(name) else 0
        return ticks / os.sysconf("SC_CLK_TCK")


def write_store(bench, tree):
    """Locks a root and pushes its packages. Returns the root, installed, and the cache of the machine."""
    root, cache = bench.fresh("writer"), bench.fresh("writer-cache")
    tree.write_pinned_root(root)
    with open(os.path.join(root, ".tofu-modlock.hcl"), "w") as file:
        file.write('implementation = "opentofu"\n')
    common = ["--chdir", root, "--cache-dir", cache]
    for command in (["lock", "--install"], ["bundle", "push", bench.server.store()]):
        processes.must_run([bench.options.modlock, *command, *common], bench.environment, bench.home)
    return root, cache


def new_runner(bench, name, written):
    """An empty cache, and a root that has only what is committed."""
    root, cache = bench.fresh(name), bench.fresh(name + "-cache")
    shutil.copytree(written, root, ignore=shutil.ignore_patterns(".terraform"))
    return root, ["--chdir", root, "--cache-dir", cache]


def install(bench, common, store):
    return [bench.options.modlock, "install", "--remote-only", "--from", store, *common]


def archive(bench, name, directory):
    """Serves a directory as a compressed archive. Returns the command that restores it in the current directory."""
    subprocess.run(["tar", "--create", "--gzip", "--file", os.path.join(bench.home, name), "--directory", directory, "."],
                   check=True)
    with open(os.path.join(bench.home, name), "rb") as file:
        bench.server.publish("archives/" + name, file.read())
    return "curl --silent --show-error --fail --cacert %s https://%s/archives/%s | tar --extract --gzip" % (
        bench.server.authority, bench.server.oci, name)


def blobs_with_curl(bench):
    """Returns the command that downloads the index of the store, then what it names, and extracts that."""
    with open(bench.server.path("access.log")) as file:
        paths = set(re.findall(r" GET (/v2/%s/(?:manifests/closure-|blobs/)\S+)" % STORE, file.read()))
    index = next(path for path in paths if "/manifests/" in path)
    blobs = sorted(path for path in paths if "/blobs/" in path)
    config = os.path.join(bench.home, "blobs")
    with open(config, "w") as file:
        for number, path in enumerate(blobs):
            file.write('url = "https://%s%s"\noutput = "%d.zip"\n' % (bench.server.oci, path, number))
    curl = "curl --silent --show-error --fail --cacert %s" % bench.server.authority
    return " && ".join([
        "%s --header 'Accept: application/vnd.oci.image.index.v1+json' --output index https://%s%s" %
        (curl, bench.server.oci, index),
        "%s --parallel --parallel-max 50 --config %s" % (curl, config),
        "for file in *.zip; do unzip -q $file -d ${file%.zip} & done && wait"])


def measure_runner(bench, tree, written, cache):
    samples = defaultdict(list)
    modules = archive(bench, "modules.tar.gz", os.path.join(written, ".terraform", "modules"))
    cached = archive(bench, "cache.tar.gz", cache)
    for _ in range(bench.options.repeat):
        for name, prefix in (("runner", "fleet"), ("guarded", "guarded")):
            root, common = new_runner(bench, "runner", written)
            bench.timed(samples, name, install(bench, common, bench.server.store(prefix)), bench.home)
            check_manifest(root, tree)
            check_same(root, written)
        for name, script in (("curl", blobs_with_curl(bench)), ("tar", modules)):
            os.makedirs(bench.fresh("plain"))
            bench.timed(samples, name, ["sh", "-ec", script], os.path.join(bench.home, "plain"))
        root, common = new_runner(bench, "runner", written)
        os.makedirs(common[3])
        bench.timed(samples, "archive", ["sh", "-c", "(cd %s && %s) && exec \"$0\" \"$@\"" % (common[3], cached),
                                         bench.options.modlock, "install", "--offline", *common], bench.home)
        check_same(root, written)
        bench.timed(samples, "push", [bench.options.modlock, "bundle", "push", bench.server.store(), "--chdir", written,
                                      "--cache-dir", cache], bench.home)
    middle = {name: statistics.median(samples[name]) for name in ("runner", "guarded", "curl", "tar", "archive", "push")}
    ours = middle["runner"]
    pushed = samples["push, seen"][-1][0]
    print_table("an empty runner, %d calls, %d packages, %g ms round trip, HTTP/%s" % (
        len(list(tree.walk())), len(tree.by_name), bench.options.round_trip_ms, "2" if bench.server.http2 else "1.1"),
        ["measure", "time", "requests (connections)", "ratio", "goal"], [
        ["install from the store", seconds(ours), seen(samples, "runner"), "",
         "<= %s: %s" % (seconds(GOAL), verdict(ours <= GOAL))],
        ["the same with a token, and blobs on another host", seconds(middle["guarded"]), seen(samples, "guarded"), "", ""],
        ["curl of the index, curl --parallel of its blobs, unzip", seconds(middle["curl"]), seen(samples, "curl"),
         ratio(middle["curl"], ours), "<= %g: %s" % (GOAL_CURL, verdict(ours <= GOAL_CURL * middle["curl"]))],
        ["curl and tar of the installed modules as one archive", seconds(middle["tar"]), seen(samples, "tar"),
         ratio(middle["tar"], ours), ""],
        ["curl and tar of the cache, then install --offline", seconds(middle["archive"]), seen(samples, "archive"),
         ratio(middle["archive"], ours), "< 1: %s" % verdict(ours < middle["archive"])],
        ["push, nothing changed", seconds(middle["push"]), seen(samples, "push"), "",
         "<= 2 requests: %s" % verdict(pushed <= 2)],
    ])


def measure_fleet(bench, written):
    """All runners on this machine: the time is that of its processors."""
    runners = [new_runner(bench, "runners/%d" % number, written) for number in range(RUNNERS)]
    used = {name: bench.server.processor_seconds(name) for name in ("nginx", "docker-regi")}
    bench.server.take_counts()
    started = time.monotonic()
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        results = list(pool.map(lambda runner: processes.run(
            install(bench, runner[1], bench.server.store("cached")), bench.environment, bench.home), runners))
    took = time.monotonic() - started
    all_requests, _ = bench.server.take_counts()
    answered, size, missed = bench.server.requests_by_cache()
    blobs = Counter(re.sub(".*/", "", path) for path in missed.elements() if "/blobs/" in path)
    failed = sum(result.exit_code != 0 for result in results)
    for root, _ in runners[:: RUNNERS // 10]:
        check_same(root, written)
    used = {name: bench.server.processor_seconds(name) - before for name, before in used.items()}
    shutil.rmtree(os.path.join(bench.home, "runners"))
    print_table("%d empty runners, %d at a time, a registry behind an HTTP cache" % (RUNNERS, AT_A_TIME),
                ["measure", "", "goal"], [
        ["time, median of a runner", "%s, %s" % (seconds(took), seconds(statistics.median(r.seconds for r in results))), ""],
        ["runners that failed", failed, "0: %s" % verdict(failed == 0)],
        ["requests to the sources", all_requests - answered, "0: %s" % verdict(all_requests == answered)],
        ["requests to the cache", "%d: %.1f of a runner, %.2f MB" %
         (answered, answered / RUNNERS, size / RUNNERS / 1e6), ""],
        ["requests to the registry; the same blob, at most", "%d; %d" % (sum(missed.values()), max(blobs.values())),
         "1: %s" % verdict(max(blobs.values()) == 1)],
        ["processor time of the cache, with TLS, for a runner", "%.1f ms" % (used["nginx"] / RUNNERS * 1000), ""],
        ["processor time of the registry", "%.0f ms" % (used["docker-regi"] * 1000), ""],
    ])


def measure_memory(bench):
    """Three packages of 100 MB, and every command that reads or writes them."""
    files = package_files()
    root, common = os.path.join(bench.home, "large"), []
    os.makedirs(root)
    with open(os.path.join(root, "main.tf"), "w") as file:
        for name in ("a", "b", "c"):
            packed = pack({**files, "name": name.encode()}, "zip")
            bench.server.push("bench/" + name, ["1.0.0"], packed)
            file.write('module "%s" {\n  source = "oci://%s/bench/%s?tag=1.0.0"\n}\n' % (name, bench.server.oci, name))
    with open(os.path.join(root, ".tofu-modlock.hcl"), "w") as file:
        file.write('implementation = "opentofu"\n')
    common = ["--chdir", root, "--cache-dir", os.path.join(bench.home, "large-cache")]
    store, bundle = bench.server.store("fleet/large"), os.path.join(bench.home, "large.tar")
    empty = ["--chdir", root, "--cache-dir"]
    processes.must_run([bench.options.modlock, "lock", *common], bench.environment, bench.home)
    rows = []
    for name, command in (
            ("bundle create", ["bundle", "create", "--output", bundle, *common]),
            ("bundle verify", ["bundle", "verify", bundle]),
            ("bundle push", ["bundle", "push", store, "--input", bundle, *common[2:]]),
            ("bundle pull", ["bundle", "pull", store, "--output", bundle + ".pulled.tar", *common]),
            ("install --from the bundle", ["install", "--from", bundle, *empty, os.path.join(bench.home, "empty-1")]),
            ("install --from the store", ["install", "--from", store, *empty, os.path.join(bench.home, "empty-2")])):
        shutil.rmtree(os.path.join(root, ".terraform"), ignore_errors=True)
        took, peak = run_with_peak([bench.options.modlock, *command], bench.environment, bench.home)
        rows.append([name, seconds(took), "%.1f MiB" % (peak / 1024),
                     "<= %d MiB: %s" % (GOAL_KIB // 1024, verdict(peak <= GOAL_KIB))])
    for path in glob.glob(bundle + "*"):
        os.remove(path)
    print_table("a bundle of three packages of 100 MB", ["command", "time", "resident at most", "goal"], rows)


def measure(options, home):
    home = os.path.join(home, "remote")
    missing = source_server.missing_programs() + [name for name in ("curl", "unzip") if not shutil.which(name)]
    if missing:
        print("\nskipped: empty machines (not found: %s)" % ", ".join(missing))
        return
    for http2 in (False, True):
        place = os.path.join(home, "http2" if http2 else "http1")
        with StoreServer(os.path.join(place, "far"), os.path.join(place, "repositories"), options.round_trip_ms / 2,
                         http2) as server:
            bench = Bench(options, place, server)
            tree = SourceTree(KINDS, server)
            tree.publish()
            written, cache = write_store(bench, tree)
            measure_runner(bench, tree, written, cache)
            if http2:
                measure_fleet(bench, written)
    place = os.path.join(home, "large")
    with StoreServer(os.path.join(place, "near"), os.path.join(place, "repositories"), 0) as server:
        measure_memory(Bench(options, place, server))
