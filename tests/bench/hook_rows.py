"""What the wrapper and the Terragrunt hooks add to a client."""

import os
import shutil
import statistics

import processes
from table import print_table, seconds, verdict

GOAL_SECONDS = 0.010
GOAL_RATIOS = {"init": 1.2, "plan": 1.15}
UNITS = 30
SCRIPTS = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "scripts")
NAMES = ["vpc", "network", "database"]


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


def make_repository(directory, files, environment):
    for name, text in files.items():
        write(os.path.join(directory, name), text)
    for arguments in (["init", "--quiet", "."], ["add", "."], ["commit", "--quiet", "--message", "all"],
                      ["tag", "v1.0.0"]):
        identity = ["-c", "user.name=bench", "-c", "user.email=bench@example.test"]
        processes.must_run(["git", *identity, *arguments], environment, directory)


def make_modules(home, environment):
    """Repositories of one module each, and the configuration that calls them."""
    calls = ""
    for name in NAMES:
        repository = os.path.join(home, "repositories", name)
        make_repository(repository, {"main.tf": 'output "name" {\n  value = "%s"\n}\n' % name}, environment)
        calls += 'module "%s" {\n  source = "git::file://%s?ref=v1.0.0"\n}\n' % (name, repository)
    return calls


def in_turns(commands, repeat):
    """(time, processor time) of each command: medians of runs in turns, without the first turn."""
    runs = {name: [] for name in commands}
    for turn in range(repeat + 1):
        for name, run in commands.items():
            runs[name].append(run())
    return {name: (statistics.median(run.seconds for run in of_one[1:]),
                   statistics.median(run.processor_seconds for run in of_one[1:])) for name, of_one in runs.items()}


def measure_wrapper(options, home, calls, environment):
    """The time of the wrapper beyond the client, which does nothing, and the process of tofu-modlock that it starts."""
    wrapper = os.path.join(SCRIPTS, "tofu-modlock-wrapper")
    client = shutil.which("true")
    directories = {"modules": os.path.join(home, "wrapped"), "none": os.path.join(home, "plain")}
    write(os.path.join(directories["modules"], "main.tf"), calls)
    write(os.path.join(directories["none"], "main.tf"), 'output "name" {\n  value = 1\n}\n')
    environment = dict(environment, TOFU_MODLOCK=options.modlock, TOFU_MODLOCK_CLIENT=client)
    processes.must_run([wrapper, "init"], environment, directories["modules"])

    def timed(directory, *command):
        return lambda: processes.must_run(list(command), environment, directories[directory])

    verify = [options.modlock, "verify", "--include", "modules", "--offline"]
    rows = [("plan", "modules", "plan", verify), ("init", "modules", "init", [options.modlock, "install"]),
            ("plan without module blocks", "none", "plan", None), ("version", "modules", "version", None)]
    commands = {"client": timed("none", client)}
    for name, directory, command, started in rows:
        commands[name] = timed(directory, wrapper, command)
        if started:
            commands["process of " + name] = timed(directory, *started)
    medians = in_turns(commands, max(30, 10 * options.repeat))
    table = []
    for name, _, _, started in rows:
        parts = [medians["client"], medians["process of " + name]] if started else [medians["client"]]
        wall, processor = (max(medians[name][i] - sum(part[i] for part in parts), 0) for i in range(2))
        table.append([name, seconds(medians[name][0]), seconds(sum(part[0] for part in parts)), seconds(wall),
                      seconds(processor), seconds(GOAL_SECONDS), verdict(wall <= GOAL_SECONDS)])
    print_table("Wrapper", ["command", "wrapper", "client and tofu-modlock", "added", "added processor time", "goal", ""],
                table)


def make_mirror(home, provider):
    """Lets clients install `bench/simple` from a directory. Returns their configuration."""
    place = os.path.join(home, "mirror", "bench.example.test", "bench", "simple", "1.0.0", "linux_amd64")
    os.makedirs(place)
    shutil.copy(provider, os.path.join(place, "terraform-provider-simple_v1.0.0"))
    settings = os.path.join(home, "client.rc")
    write(settings, 'provider_installation {\n  filesystem_mirror {\n    path = "%s"\n  }\n}\n' %
          os.path.join(home, "mirror"))
    return settings


def make_units(root, calls, hooks, environment):
    if "TF_CLI_CONFIG_FILE" in environment:
        calls += ('terraform {\n  required_providers {\n    simple = {\n'
                  '      source = "bench.example.test/bench/simple"\n    }\n  }\n}\n')
    files = {"modlock.hcl": hooks, "catalog/main.tf": calls, ".gitignore": ".terragrunt-cache\n"}
    for number in range(UNITS):
        files["live/%d/terragrunt.hcl" % number] = (
            'include "modlock" {\n  path = "${get_repo_root()}/modlock.hcl"\n}\n'
            'terraform {\n  source = "${get_repo_root()}/catalog"\n}\n')
    make_repository(root, files, environment)


def measure_hooks(options, home, calls, environment):
    """Commands in units one after the other, with everything in place."""
    with open(os.path.join(SCRIPTS, "terragrunt", "modlock.hcl")) as file:
        hooks = file.read()
    bin_directory = os.path.join(home, "bin")
    os.makedirs(bin_directory)
    os.symlink(options.modlock, os.path.join(bin_directory, "tofu-modlock"))
    environment = dict(environment, PATH=bin_directory + ":" + environment["PATH"], TG_TF_PATH=options.client,
                       TG_NON_INTERACTIVE="true")
    if options.provider:
        environment["TF_CLI_CONFIG_FILE"] = make_mirror(home, options.provider)
    roots = {"with": os.path.join(home, "with"), "without": os.path.join(home, "without")}
    make_units(roots["with"], calls, hooks, environment)
    make_units(roots["without"], calls, "terraform {}\n", environment)

    # Without providers, Terragrunt would run init before each plan.
    def run_units(root, command):
        runs = [processes.must_run(["terragrunt", command, "--no-auto-init"], environment,
                                   os.path.join(root, "live", str(number))) for number in range(UNITS)]
        return processes.Run(sum(run.seconds for run in runs), sum(run.processor_seconds for run in runs), "", "", 0)

    for command, goal in GOAL_RATIOS.items():
        medians = in_turns({name: lambda root=root: run_units(root, command) for name, root in roots.items()},
                           options.repeat)
        table = []
        for i, what in enumerate(("time", "processor time")):
            ours, theirs = medians["with"][i], medians["without"][i]
            table.append([what, seconds(ours), seconds(theirs), "%.2f" % (ours / theirs), "%.2f" % goal,
                          verdict(ours <= goal * theirs)])
        provider = "a provider each" if options.provider else "no provider"
        print_table("Terragrunt: `%s` of %d units, %s, nothing to do" % (command, UNITS, provider),
                    ["", "with hooks", "without", "ratio", "goal", ""], table)


def measure(options, home):
    if not shutil.which("git"):
        print("\nskipped: wrapper and hooks (not found: git)")
        return
    home = os.path.join(home, "hooks")
    environment = {"PATH": os.environ["PATH"], "HOME": home, "LANG": "C.UTF-8", "GIT_CONFIG_NOSYSTEM": "1"}
    os.makedirs(home)
    calls = make_modules(home, environment)
    measure_wrapper(options, home, calls, environment)
    if options.client and shutil.which("terragrunt"):
        measure_hooks(options, home, calls, environment)
    else:
        print("\nskipped: the hooks (not found: terragrunt, or no client)")
