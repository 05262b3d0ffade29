"""How fast configurations are read: a large root module, against `fmt` of a stock client, and a tree of 60 modules."""

import json
import os
import statistics
import tempfile
import time

import aws_style
import processes
from git_tree import TAGS, Content, Tree
from session import Session
from table import print_table, ratio, seconds, verdict

GOAL_RATIO = 5
GOAL_SECONDS = 0.040


def write_installed(directory, tree):
    """The root module of `tree` and all of its packages, as they lie where `init` has been."""
    tree.write_pinned_root(directory)
    modules = [{"Key": "", "Source": "", "Dir": "."}]
    contents = {}
    for key, call in tree.walk():
        package = (call.repository, call.tag)
        if package not in contents:
            contents[package] = package_files(tree, *package)
        place = ".terraform/modules/" + key
        for path, text in contents[package].items():
            path = os.path.join(directory, place, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file:
                file.write(text)
        modules.append({"Key": key, "Source": call.source(tree.base_url),
                        "Dir": (place + "/" + call.directory).rstrip("/")})
    with open(os.path.join(directory, ".terraform/modules/modules.json"), "w") as file:
        json.dump({"Modules": modules}, file)


def package_files(tree, repository, tag):
    content, files = Content(tree, repository), {}
    for number in range(TAGS[tag] + 1):
        files.update(content.commit(number))
    return files


def inspected(options, environment, root):
    """(seconds, number of modules) of each run. It prints into a file: through a pipe, it would wait for its reader."""
    for _ in range(max(5, options.repeat)):
        with tempfile.TemporaryFile() as printed:
            result = processes.run([options.modlock, "inspect", "--json", "--chdir", root], environment, stdout=printed)
            if result.exit_code not in (0, 8):
                raise SystemExit("inspect: exit %d\n%s" % (result.exit_code, result.stderr))
            printed.seek(0)
            answer = json.load(printed)
        errors = [entry["message"] for entry in answer["diagnostics"] if entry["severity"] == "error"]
        if errors:
            raise SystemExit("inspect of %s: %s" % (root, errors[:3]))
        yield result.seconds, len(answer["modules"])


def inspected_again(options, environment, root):
    """Seconds of each request to one session."""
    session = Session(options.modlock, environment, {"implementation": "opentofu", "implementationVersion": "1.10.0"})
    try:
        for number in range(max(20, options.repeat)):
            started = time.monotonic()
            session.send("config/inspect", {"root": root}, number + 1)
            session.answer()
            yield time.monotonic() - started
    finally:
        processes.end_group(session.process)


def loop_of_python():
    """Seconds of a million turns: how fast the machine is in this hour."""
    started, total = time.perf_counter(), 0
    for number in range(1_000_000):
        total += number
    return time.perf_counter() - started


def measure(options, home):
    environment = {"PATH": os.environ["PATH"], "HOME": home, "LANG": "C.UTF-8", "CHECKPOINT_DISABLE": "1"}
    large, tree = os.path.join(home, "large"), os.path.join(home, "tree")
    size = aws_style.write_root(large)
    write_installed(tree, Tree("spread", "https://localhost:1"))
    ours = statistics.median(took for took, _ in inspected(options, environment, large))
    rows = [["inspect of %d files, %.1f MB" % (aws_style.FILES, size / 1e6),
             "%s, %.0f MB/s" % (seconds(ours), size / 1e6 / ours),
             "", ""]]
    if options.client:
        command = [options.client, "fmt", "-check", "-recursive", large]
        theirs = statistics.median(processes.must_run(command, environment).seconds for _ in range(options.repeat))
        rows.append(["`fmt -check -recursive` of %s, against that" % os.path.basename(options.client), seconds(theirs),
                     ">= %d times as long" % GOAL_RATIO,
                     "ratio %s: %s" % (ratio(ours, theirs), verdict(theirs / ours >= GOAL_RATIO))])
    runs = list(inspected(options, environment, tree))
    if {modules for _, modules in runs} != {60}:
        raise SystemExit("inspect found %s modules of 60" % {modules for _, modules in runs})
    took = statistics.median(took for took, _ in runs)
    again = statistics.median(inspected_again(options, environment, tree))
    rows.append(["inspect of 60 modules, all installed, whole process", seconds(took), "<= " + seconds(GOAL_SECONDS),
                 verdict(took <= GOAL_SECONDS)])
    rows.append(["config/inspect of those, one session", seconds(again), "", ""])
    rows.append(["for comparison, a million turns of a loop of Python", seconds(loop_of_python()), "", ""])
    print_table("Reading configurations", ["measure", "time", "goal", ""], rows)
