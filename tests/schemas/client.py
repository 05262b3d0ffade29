"""Reads results with the types that quicktype makes of the JSON Schema, and writes them again.

usage: client.py TYPES NAME=RESULT…     TYPES is the generated module, RESULT a file with a result of the type NAME
Exit: 0 each is the same again, 1 one is not.
"""
import importlib.util
import json
import sys


def main():
    spec = importlib.util.spec_from_file_location("protocol", sys.argv[1])
    types = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(types)
    bad = 0
    for argument in sys.argv[2:]:
        name, file = argument.split("=", 1)
        with open(file, encoding="utf-8") as text:
            result = json.load(text)
        same = getattr(types, name).from_dict(result).to_dict() == result
        print(f"{name}, quicktype: {'read and written' if same else 'NOT THE SAME'}")
        bad += not same
    return 1 if bad else 0


sys.exit(main())
