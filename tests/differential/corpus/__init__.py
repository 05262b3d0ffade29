"""Configurations written by hand, by theme."""

import importlib

THEMES = [
    "files",
    "overrides",
    "json_syntax",
    "values",
    "variable_values",
    "calls",
    "providers",
    "requirements",
    "releases",
    "tests",
    "syntax",
    "packages_and_state",
]


def configurations():
    return [entry for theme in THEMES for entry in importlib.import_module("corpus." + theme).CONFIGURATIONS]
