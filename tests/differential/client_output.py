"""Reads what clients print for people."""

import re

# What happens after the configuration has been read, and needs a network or a mirror.
AFTER_READING = {"Failed to query available provider packages", "Failed to install provider",
                 "Incompatible provider version", "Failed to resolve provider packages"}
# What depends on a network or on what lies at a remote source, once the configuration of the caller has been read.
WHILE_FETCHING = {"Failed to download module", "Failed to expand subdir globs"}
TREE_LINE = re.compile(r"^((?:[│ ]\s{3})*)[├└]── (.*)$")
PROVIDER = re.compile(r"^provider\[(.*?)\]\s*(.*)$")
FINDING = re.compile(r'^- Finding (?:latest version of (\S+)|(\S+) versions matching "(.*)")\.\.\.$', re.MULTILINE)
BUILT_IN = re.compile(r"^- (\S+) is built in to ", re.MULTILINE)


def configuration_errors(text):
    """The headlines of the errors in the output of any command, without those of installing providers."""
    return [headline for headline in re.findall(r"^(?:│ )?Error: (.*)$", text, re.MULTILINE)
            if headline not in AFTER_READING]


def init_providers(text, default_registry):
    """Address -> constraints of all modules together, from the output of `init`."""
    found = {address: "" for address in BUILT_IN.findall(text)}
    for latest, constrained, constraints in FINDING.findall(text):
        address = latest or constrained
        if address.count("/") < 2:
            address = default_registry + "/" + address
        found[address] = constraints
    return found


def module_key(path):
    """["test.tests.web", "run.setup", "module.net"] -> "test.tests.web.setup.net"."""
    return ".".join(re.sub(r"^(module|run)\.", "", part) for part in path)


def tree_providers(text):
    """(module key, address) -> constraints, from the tree that `providers` prints."""
    found = {}
    path = []
    for line in text.splitlines():
        match = TREE_LINE.match(line)
        if not match:
            if found and not line.strip():
                break
            continue
        level = len(match[1]) // 4
        del path[level:]
        provider = PROVIDER.match(match[2])
        if provider:
            found[module_key(path), provider[1]] = provider[2]
        else:
            path.append(match[2])
    return found
