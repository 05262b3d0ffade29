"""Verify 200 modules of 20,000 files against openssl over the same bytes: all hashed, and all remembered."""

import hashlib
import os
import random
import shutil
import statistics
import subprocess
import time

import processes
from table import print_table, ratio, seconds, verdict

MODULES = 200
FILES = 100
GOAL_SHARE = 0.8
GOAL_SECONDS = 0.060
GOAL_LINKS = 0.04


def package(number):
    """Name -> content: configuration at the top, and below it what a package has beside: examples, tests, documents."""
    source = random.Random(number)
    files = {}
    for i in range(FILES):
        words = "".join("# %x\n" % source.getrandbits(256) for _ in range(source.randrange(2, 120)))
        if i < 4:
            files["part%d.tf" % i] = 'variable "v%d" {\n  default = "%d"\n}\n' % (i, number) + words
        else:
            files["%s/%02d.txt" % (("examples/a", "examples/b", "docs", "tests")[i % 4], i)] = words
    return files


def make_root(root, repositories, base_url):
    """200 calls of one repository each; their packages are made by git alone, the lock and the tree by us."""
    os.makedirs(root)
    calls = []
    for number in range(MODULES):
        path = os.path.join(repositories, "%03d.git" % number)
        stream = ["commit refs/heads/main\ncommitter a <a@example.com> 1700000000 +0000\ndata 0\n"]
        for name, content in package(number).items():
            stream.append("M 100644 inline %s\ndata %d\n%s" % (name, len(content), content))
        subprocess.run(["git", "init", "--quiet", "--bare", path], check=True)
        subprocess.run(["git", "-C", path, "fast-import", "--quiet"], input="".join(stream).encode(), check=True)
        calls.append('module "m%03d" {\n  source = "git::%s/%03d.git?ref=main"\n}\n' % (number, base_url, number))
    with open(os.path.join(root, "main.tf"), "w") as file:
        file.write("".join(calls))


def all_files(top):
    found = []
    for directory, _, files in os.walk(top):
        found.extend(os.path.join(directory, name) for name in files if directory != top)
    return sorted(found)


def run_openssl(files):
    """openssl dgst over these files, one process for each core: seconds of the slowest."""
    cores = os.cpu_count()
    started = time.monotonic()
    running = [subprocess.Popen(["openssl", "dgst", "-sha256", *files[i::cores]], stdout=subprocess.DEVNULL)
               for i in range(cores)]
    codes = [process.wait() for process in running]
    if any(codes):
        raise SystemExit("openssl dgst failed: %s" % codes)
    return time.monotonic() - started


def check_first_digest(files):
    """That both measure the same: openssl prints what Python hashes."""
    said = subprocess.run(["openssl", "dgst", "-sha256", "-r", files[0]], capture_output=True, text=True, check=True)
    with open(files[0], "rb") as file:
        if said.stdout.split()[0] != hashlib.sha256(file.read()).hexdigest():
            raise SystemExit("openssl hashed something else")


def measure(options, home):
    if not shutil.which("git") or not shutil.which("openssl"):
        print("\nskipped: verify of %d modules (git or openssl not found)" % MODULES)
        return
    root, cache = os.path.join(home, "verify-root"), os.path.join(home, "verify-cache")
    environment = {"PATH": os.environ["PATH"], "HOME": home, "LANG": "C.UTF-8", "TOFU_MODLOCK_CACHE_DIR": cache,
                   "TOFU_MODLOCK_IMPLEMENTATION": "opentofu", "TOFU_MODLOCK_IMPLEMENTATION_VERSION": "1.12.6"}
    repositories = os.path.join(home, "verify-repositories")
    make_root(root, repositories, "file://" + repositories)
    processes.must_run([options.modlock, "lock", "--install", "--chdir", root], environment, home)
    files = all_files(os.path.join(root, ".terraform", "modules"))
    if len(files) != MODULES * FILES:
        raise SystemExit("%d files are installed, not %d" % (len(files), MODULES * FILES))
    check_first_digest(files)
    size = sum(os.path.getsize(path) for path in files)
    command = [options.modlock, "verify", "--chdir", root]
    processes.must_run(command, environment, home)
    cold, warm, openssl = [], [], []
    for _ in range(max(5, options.repeat)):
        openssl.append(run_openssl(files))
        cold.append(processes.must_run([*command, "--full"], environment, home).seconds)
        warm.append(processes.must_run(command, environment, home).seconds)
    install, links = [options.modlock, "install", "--link", "--chdir", root], []
    processes.must_run(install, environment, home)
    if not os.path.islink(os.path.join(root, ".terraform", "modules", "m000")):
        raise SystemExit("install --link has made no links")
    for _ in range(max(5, options.repeat)):
        links.append(processes.must_run(install, environment, home).seconds)
    cold, warm, openssl, links = (statistics.median(times) for times in (cold, warm, openssl, links))
    print_table("verify, %d modules, %d files, %.0f MB" % (MODULES, len(files), size / 1e6),
                ["measure", "tofu-modlock", "openssl dgst, all cores", "share", "goal"], [
        ["every file hashed (--full)", seconds(cold), seconds(openssl), ratio(cold, openssl),
         ">= %.1f: %s" % (GOAL_SHARE, verdict(openssl / cold >= GOAL_SHARE))],
        ["nothing changed", seconds(warm), seconds(openssl), ratio(warm, openssl),
         "%s: %s" % (seconds(GOAL_SECONDS), verdict(warm <= GOAL_SECONDS))],
        ["install --link, nothing changed", seconds(links), "", "",
         "%s: %s" % (seconds(GOAL_LINKS), verdict(links <= GOAL_LINKS))],
    ])
