"""Compare the packages of updates, without delay: all are in the cache."""

import os
import shutil
import statistics
import subprocess

import processes
from table import print_table, seconds, verdict

GOAL = 0.1  # seconds, for one module
GOAL_FLEET = 5
FILES = 200
UPDATES = 100
RISKY = 2  # the provisioner, and the address that it names
BLOCKS = """
variable "name_{n}" {{
  type    = string
  default = "{value}"
}}

resource "terraform_data" "item_{n}" {{
  input = var.name_{n}
}}

output "name_{n}" {{
  value = terraform_data.item_{n}.output
}}
"""


def git(directory, *arguments):
    environment = {"PATH": os.environ["PATH"], "HOME": directory, "GIT_CONFIG_NOSYSTEM": "1",
                   **{"GIT_%s_%s" % (who, what): "bench@example.com" for who in ("AUTHOR", "COMMITTER")
                      for what in ("NAME", "EMAIL")}}
    subprocess.run(["git", "-C", directory, *arguments], env=environment, check=True, stdout=subprocess.DEVNULL)


def make_repository(directory, files):
    """Two tags; every tenth file changes, and one provisioner is added."""
    os.makedirs(directory)
    git(directory, "init", "--quiet")
    for tag in ("v1.0.0", "v1.1.0"):
        for n in range(files):
            if tag == "v1.0.0" or n % 10 == 0:
                with open(os.path.join(directory, "part_%03d.tf" % n), "w") as file:
                    file.write(BLOCKS.format(n=n, value=tag))
        if tag == "v1.1.0":
            with open(os.path.join(directory, "run.tf"), "w") as file:
                file.write('resource "terraform_data" "run" {\n  provisioner "local-exec" {\n    command = "id"\n  }\n}\n')
        git(directory, "add", "--all")
        git(directory, "commit", "--quiet", "--message", tag)
        git(directory, "tag", tag)


def write_root(directory, repositories):
    os.makedirs(directory)
    with open(os.path.join(directory, "main.tf"), "w") as file:
        for number, repository in enumerate(repositories):
            file.write('module "m%d" {\n  source = "git::file://%s?ref=v1.0.0"\n}\n' % (number, repository))


def measure_root(options, home, name, repositories, risky):
    root = os.path.join(home, name)
    write_root(root, repositories)
    environment = {"PATH": os.environ["PATH"], "HOME": home, "TOFU_MODLOCK_CACHE_DIR": os.path.join(home, "cache")}
    subjects = ["module.m%d=1.1.0" % number for number in range(len(repositories))]
    processes.must_run([options.modlock, "lock", "--chdir", root], environment, home)
    diff = [options.modlock, "diff", "--chdir", root, *subjects]
    processes.must_run(diff, environment, home)  # fetches the new versions
    times = []
    for _ in range(options.repeat):
        result = processes.must_run(diff, environment, home)
        if "%d risky" % risky not in result.stdout:
            raise SystemExit("diff did not find the provisioners:\n%s" % result.stdout[-500:])
        times.append(result.seconds)
    return statistics.median(times)


def measure(options, home):
    home = os.path.join(home, "diff")
    if not shutil.which("git"):
        print("\nskipped: diffs of updates (not found: git)")
        return
    make_repository(os.path.join(home, "large"), FILES)
    one = measure_root(options, home, "one", [os.path.join(home, "large")], RISKY)
    repositories = [os.path.join(home, "small-%03d" % number) for number in range(UPDATES)]
    for repository in repositories:
        make_repository(repository, 10)
    many = measure_root(options, home, "many", repositories, UPDATES * RISKY)
    print_table("diff, both packages in the cache", ["measure", "tofu-modlock", "goal"], [
        ["a module of %d files" % FILES, seconds(one), "<= %s: %s" % (seconds(GOAL), verdict(one <= GOAL))],
        ["%d updates of a root module" % UPDATES, seconds(many),
         "<= %s: %s" % (seconds(GOAL_FLEET), verdict(many <= GOAL_FLEET))],
    ])
