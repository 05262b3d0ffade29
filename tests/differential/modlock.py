"""Asks `tofu-modlock inspect` the same."""

import json
import subprocess

from answer import Answer, merged

# accepted; refused because of what stands in the configuration, 2 for a -var of TF_CLI_ARGS that is none, 6 for the release
# it wants, 7 for a file that it names
EXIT_CODES = (0, 2, 6, 7, 8)


class Modlock:
    def __init__(self, program, client):
        self.program = program
        self.client = client

    def ask(self, configuration, directory):
        command = [self.program, "inspect", "--json", "--implementation", self.client.implementation,
                   "--implementation-version", self.client.version, "--chdir", "."]
        result = subprocess.run(command, cwd="%s/%s" % (directory, configuration.root), stdin=subprocess.DEVNULL,
                                env=self.client.environment(configuration.environment), stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, encoding="utf-8", errors="replace", timeout=60)
        if result.returncode not in EXIT_CODES or (result.returncode == 0 and not result.stdout):
            return Answer(failure="exit %d\n%s%s" % (result.returncode, result.stdout, result.stderr))
        if not result.stdout:
            return Answer([result.stderr.strip()])
        return read(json.loads(result.stdout))


def read(result):
    """The answer in the result of config/inspect, or in its error."""
    if "error" in result:
        return Answer([result["error"]["message"]])
    answer = Answer([place(entry) + entry["message"] for entry in result["diagnostics"]
                     if entry["severity"] == "error"])
    for module in result["modules"]:
        if "source" in module:
            answer.modules[module["key"]] = module["source"]
        if "constraint" in module:
            answer.constrained.add(module["key"])
    for provider in result["providers"]:
        answer.providers[provider["address"]] = normal([entry["text"] for entry in provider["constraints"]])
        for module in {entry["module"] for entry in provider["constraints"]}:
            answer.contributions[module, provider["address"]] = normal(
                [entry["text"] for entry in provider["constraints"] if entry["module"] == module])
    return answer


def normal(texts):
    """A wrong constraint comes with an error and is never compared."""
    try:
        return merged(texts)
    except ValueError:
        return None


def place(entry):
    start = entry.get("location", {}).get("range", {}).get("start")
    return "%s:%d:%d: " % (entry["location"]["path"], start["line"], start["column"]) if start else ""
