"""Asks a stock client: what its init accepts and installs, and what its `providers` prints."""

import json
import os
import subprocess

import client_output
from answer import Answer

TIMEOUT = 60


class Client:
    def __init__(self, program, home):
        self.program = program
        self.home = home
        self.settings = os.path.join(home, "client.tfrc")
        mirror = os.path.join(home, "no-providers")
        os.makedirs(mirror)
        with open(self.settings, "w") as file:
            file.write('disable_checkpoint = true\nprovider_installation {\n  filesystem_mirror {\n    path = "%s"\n'
                       '  }\n}\n' % mirror)
        text = self.run(["version"], home).stdout.split("\n")[0]
        self.implementation = "terraform" if text.startswith("Terraform ") else "opentofu"
        self.version = text.split(" v", 1)[1].split("-")[0]
        self.default_registry = "registry.%s.%s" % (("terraform", "io") if self.implementation == "terraform" else
                                                    ("opentofu", "org"))

    @property
    def title(self):
        return "%s %s" % (os.path.basename(self.program), self.version)

    def environment(self, extra):
        """What every program here runs with; whatever would leave the machine meets a closed port."""
        closed = "http://127.0.0.1:1"
        return {"PATH": os.environ["PATH"], "HOME": self.home, "LANG": "C.UTF-8", "GIT_CONFIG_NOSYSTEM": "1",
                "TF_CLI_CONFIG_FILE": self.settings, "CHECKPOINT_DISABLE": "1", "HTTP_PROXY": closed,
                "HTTPS_PROXY": closed, **extra}

    def run(self, arguments, directory, extra=None):
        return subprocess.run([self.program, *arguments], cwd=directory, env=self.environment(extra or {}),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              encoding="utf-8", errors="replace", timeout=TIMEOUT)

    def ask(self, configuration, directory):
        """Its answer; a `failure` where it crashes or cannot fetch a package: then there is nothing to compare with."""
        root = os.path.join(directory, configuration.root)
        flags = ["-input=false", "-no-color"] + ([] if configuration.has_state else ["-backend=false"])
        result = self.run(["init", *flags], root, configuration.environment)
        text = result.stdout + result.stderr
        errors = client_output.configuration_errors(text)
        if client_output.WHILE_FETCHING.intersection(errors):
            return Answer(failure="; ".join(errors))
        if errors:
            return Answer(errors)
        if "Error: " not in text and result.returncode != 0:
            return Answer(failure="exit %d\n%s" % (result.returncode, text))
        answer = Answer(providers=client_output.init_providers(result.stdout, self.default_registry))
        for module in installed_modules(root):
            if module["Key"]:
                answer.modules[module["Key"]] = module["Source"]
                if "Version" in module:
                    answer.constrained.add(module["Key"])
        if answer.modules:  # else all is said
            tree = self.run(["providers", "-no-color"], root, configuration.environment)
            answer.trees = tree.returncode == 0
            found = client_output.tree_providers(tree.stdout)
        else:
            found = {("", address): text for address, text in answer.providers.items()}
        answer.contributions = {key: text for key, text in found.items() if text}
        return answer


def installed_modules(root):
    try:
        with open(os.path.join(root, ".terraform", "modules", "modules.json")) as file:
            return json.load(file)["Modules"]
    except FileNotFoundError:  # nothing is called
        return []
