"""What 0.2.0 had is still there: settings, commands, flags, variables, methods, members and codes (docs/upgrade.md).

`stable_test.py --list` prints the names of this version, as names_of_0.2.0.txt has those of 0.2.0.
"""

import json
import pathlib
import re
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
DOCS = HERE.parent.parent / "docs"

# Names that the pages no longer list, with the test that shows that they are read, or the reason.
NOT_LISTED = {
    "setting remote_write": "a_setting_of_an_older_version_is_ignored",
    "flag ci --json": "the flag is an error that names the commands that have it; it did nothing",
}


def settings(schema):
    for block, inner in {"": schema, **schema["definitions"]}.items():
        for name in inner.get("properties", {}):
            yield f"setting {block}.{name}".replace(" .", " ")


def names(docs):
    """Returns the names that the generated pages list."""
    command = ""
    for line in (docs / "tofu-modlock.1").read_text().replace("\\-", "-").splitlines():
        if line.startswith(".SS "):
            command = re.sub(r" [^a-z].*", "", line[4:].removeprefix("tofu-modlock "))
            yield f"command {command}"
        elif line.startswith(".B -"):
            for flag in re.findall(r"(?<!\S|[^,])--?[a-z][a-z-]*", line[3:].split(" ")[0]):
                yield f"flag {command} {flag}"
    for variable in re.findall(r"TOFU_MODLOCK_\w+", (docs / "exit-codes.md").read_text()):
        yield f"variable {variable}"
    document = json.loads((docs / "openrpc.json").read_text())
    for method in document["methods"]:
        yield f"method {method['name']}"
        for param in method["params"]:
            yield f"member {method['name']}.{param.get('name') or param['$ref'].rpartition('/')[2]}"
    for name, schema in document["components"]["schemas"].items():
        for member in schema.get("properties", {}):
            yield f"member {name}.{member}"
    for code in document["x-codes"]:
        yield f"code {code['code'] if isinstance(code, dict) else code}"
    yield from settings(json.loads((docs / "settings.schema.json").read_text()))


class Stable(unittest.TestCase):
    def test_nothing_is_gone(self):
        former = (HERE / "names_of_0.2.0.txt").read_text().splitlines()
        self.assertGreater(len(former), 500)
        self.assertEqual(sorted(set(former) - set(names(DOCS)) - set(NOT_LISTED)), [])
        self.assertEqual(sorted(set(NOT_LISTED) - set(former)), [])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--list"]:
        print("\n".join(sorted(set(names(pathlib.Path(sys.argv[2]) if sys.argv[2:] else DOCS)))))
    else:
        unittest.main()
