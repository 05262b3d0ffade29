#!/usr/bin/env python3
"""Runs the command blocks of README.md, docs/*.md and docs/development/*.md, and checks the commands and flags in them.

usage: tests/docs/pages_test.py BINARY [-v] [NAME ...]

BINARY is tofu-modlock. NAME is a test such as Pages.test_team. Each page runs in a shell of its own, in a root module
that scenes.sh makes, with the servers of servers.py. A block of the language console, bash, shell or sh has one of
these marks in comments directly above it, or none:

  <!-- not run: REASON -->    its syntax is checked, and nothing is run
  <!-- before: FUNCTION -->   a function of scenes.sh that runs first
  <!-- exits: 1 0 -->         the exit codes of its commands, 0 each without this mark

A block of any language with the mark `<!-- file: PATH -->` is written to that file. A line `Error: … [CODE]` or
`Warning: … [CODE]` that a block shows must be in the output of its command.
Exit: 0 all passed, 1 one failed.
"""
import concurrent.futures
import os
import pwd
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import blocks  # noqa: E402
import servers  # noqa: E402

BINARY = ""
HERE = Path(__file__).resolve().parent
PROJECT = HERE.parent.parent
PAGES = [PROJECT / "README.md", *sorted((PROJECT / "docs").glob("*.md")), *sorted((PROJECT / "docs/development").glob("*.md"))]
CODED = re.compile(r"^(?:Error|Warning): .*\[[A-Z_]+\]$", re.MULTILINE)
SEEN = []  # "run" or "marked" for each block
WORKERS = 4  # pages at the same time; they mostly wait for programs

# Places of the pages, and those of the scene.
REWRITTEN = {"/opt/tofu-modlock": "$SCENE/opt/tofu-modlock", "/path/to/root": "$ROOT", "/repo/live": "$ROOT", "/srv/providers": "$SCENE/mirror",
             **{f"/usr/local/bin/{name}": f"$SCENE/bin/{name}" for name in ("shelf-backend", "git-backend", "registry-backend", "oci-backend", "bucket-backend")}}

PRELUDE = """
set -u
. "$HERE/scenes.sh"
cd "$ROOT"
"scene_$PAGE" >"$SCENE/scene.log" 2>&1
run() {  # WHERE EXPECTED COMMAND SHOWN
  local status=0
  eval "$3" >"$SCENE/output" 2>&1 </dev/null || status=$?
  if [ "$status" -ne "$2" ]; then
    printf '%s: expected exit code %s, got %s: %s\\n%s\\n' "$1" "$2" "$status" "$3" "$(cat "$SCENE/output")"
  fi
  while IFS= read -r line; do
    [ -z "$line" ] || grep -qxF -- "$line" "$SCENE/output" ||
      printf '%s: this line is not in the output: %s\\n%s\\n' "$1" "$line" "$(cat "$SCENE/output")"
  done <<<"$4"
}
before() {  # WHERE FUNCTION
  "$2" >"$SCENE/scene.log" 2>&1 || printf '%s: %s failed\\n%s\\n' "$1" "$2" "$(cat "$SCENE/scene.log")"
}
"""


def rewrite(text):
    for place, here in REWRITTEN.items():
        text = text.replace(place, here)
    return text


def script_of(page, page_blocks, environment):
    """The shell program that runs a page; it prints one text for each finding."""
    parts = [PRELUDE]
    for block in page_blocks:
        where = shlex.quote(f"{page.name}:{block.line}")
        if "file" in block.marks:
            text = rewrite("\n".join(block.lines)).replace("$SCENE", environment["SCENE"]) + "\n"
            parts.append(f"printf %s {shlex.quote(text)} >{rewrite(block.marks['file'])}")
        if block.language not in blocks.LANGUAGES or "not run" in block.marks:
            continue
        if "before" in block.marks:
            parts.append(f"before {where} {shlex.quote(block.marks['before'])}")
        commands = block.commands()
        exits = block.marks.get("exits", " ".join("0" * len(commands))).split()
        if len(exits) != len(commands):
            parts.append(f"echo {where}: {len(commands)} commands, {len(exits)} exit codes")
            continue
        for (command, shown), expected in zip(commands, exits):
            coded = "\n".join(CODED.findall(shown))
            command = rewrite(command)
            for variable in ("SCENE", "ROOT"):  # also in single quotes
                command = command.replace(f"${variable}", environment[variable])
            parts.append(f"run {where} {expected} {shlex.quote(command)} {shlex.quote(coded)}")
    return "\n".join(parts) + "\n"


def has_name():
    try:
        return bool(pwd.getpwuid(os.geteuid()))
    except KeyError:
        return False


def has_syntax(command):
    return subprocess.run(["bash", "-n"], input=command, text=True, capture_output=True, check=False).returncode == 0


class Pages(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory(prefix="modlock-docs-")
        cls.servers = servers.Servers(Path(cls.directory.name) / "servers")
        if cls.servers.has_oci:
            for version in ("1.0.0", "1.1.0"):
                for repository in ("acme/network", "oci-local/network"):
                    cls.servers.push_oci(repository, version, {"main.tf": f"# {version}\n"})

        cls.pool = concurrent.futures.ThreadPoolExecutor(WORKERS)
        chosen = sys.argv[1:] and not sys.argv[1].startswith("-")  # then only the chosen pages run
        cls.problems = {page: cls.pool.submit(cls.find_problems, page) for page in PAGES if not chosen}

    @classmethod
    def tearDownClass(cls):
        cls.pool.shutdown()
        cls.servers.stop()
        cls.directory.cleanup()
        print(f"{SEEN.count('run')} blocks run, {SEEN.count('marked')} marked as not run")

    @classmethod
    def environment(cls, scene, page):
        """A new home; PATH has tofu-modlock, a client named tofu, and stand-ins for docker, sudo and credential helpers."""
        for name in ("home", "bin", "root", "tmp", "repositories"):
            (scene / name).mkdir(parents=True)
        (scene / "bin/tofu-modlock").symlink_to(BINARY)
        client = shutil.which("tofu") or shutil.which("terraform") or HERE / "stand_ins/client"
        (scene / "bin/tofu").symlink_to(client)
        for stand_in in (HERE / "stand_ins").iterdir():
            (scene / "bin" / stand_in.name).symlink_to(stand_in)
        is_terraform = Path(client).name == "terraform"
        return cls.servers.environment(scene / "repositories") | {
            "PATH": f"{scene}/bin:{os.environ['PATH']}", "HOME": str(scene / "home"), "TMPDIR": str(scene / "tmp"),
            "LC_ALL": "C.UTF-8", "GIT_CONFIG_NOSYSTEM": "1", "CHECKPOINT_DISABLE": "1",
            "TOFU_MODLOCK_IMPLEMENTATION": "terraform" if is_terraform else "opentofu",
            "SCENE": str(scene), "ROOT": str(scene / "root"), "HERE": str(HERE), "PAGE": page.stem.replace("-", "_").lower(),
            "PROJECT": str(PROJECT), "REPOSITORIES": str(scene / "repositories"), "PASSWORD": servers.PASSWORD}

    def check_page(self, page):
        if page.stem in ("private-sources", "restricted-network") and not self.servers.has_oci:
            self.skipTest("docker-registry and htpasswd are not installed")
        if page.stem == "sbom" and not has_name():
            self.skipTest("ssh-keygen needs a user with a name")
        self.assertEqual(self.problems[page].result() if page in self.problems else self.find_problems(page), "")

    @classmethod
    def find_problems(cls, page):
        """One text for all problems of a page, empty if there are none."""
        found = blocks.read_blocks(page.read_text(encoding="utf-8"))
        commands = [block for block in found if block.language in blocks.LANGUAGES]
        for block in commands:
            SEEN.extend(["marked" if "not run" in block.marks else "run"] if page in PAGES else [])
            if not block.commands() or not all(has_syntax(command) for command, _ in block.commands()):
                return f"{page.name}:{block.line}: no command, or a syntax error"
        if all("not run" in block.marks for block in commands):
            return ""
        scene = Path(tempfile.mkdtemp(prefix=f"{page.stem}-", dir=cls.directory.name))
        environment = cls.environment(scene, page)
        script = script_of(page, found, environment)
        if environment["TOFU_MODLOCK_IMPLEMENTATION"] == "terraform":
            script = script.replace("-- tofu ", "-- terraform ")  # the name of the command says which client it is
        ran = subprocess.run(["bash", "-c", script], cwd=scene, env=environment, text=True,
                             capture_output=True, check=False)
        log = scene / "scene.log"
        if ran.returncode != 0:
            return f"{page.name}: the scene failed\n{ran.stdout}{ran.stderr}{log.read_text() if log.exists() else ''}"
        return ran.stdout + ran.stderr

    def test_problems_are_found(self):
        rows = [
            ("an exit code", "```console\n$ false\n```\n", "expected exit code 0, got 1: false"),
            ("an expected failure", "<!-- exits: 1 -->\n```console\n$ true\n```\n", "expected exit code 1, got 0"),
            ("an error", "```console\n$ echo a\nError: b [FROZEN]\n```\n", "not in the output: Error: b [FROZEN]"),
            ("the second command", "<!-- exits: 1 -->\n```console\n$ false\n$ false\n```\n", "2 commands, 1 exit codes"),
            ("a script", "```sh\ntrue\nfalse\n```\n", "expected exit code 0, got 1"),
            ("syntax of a marked block", "<!-- not run: why -->\n```sh\nif\n```\n", "a syntax error"),
            ("a scene", "<!-- before: nothing -->\n```sh\ntrue\n```\n", "nothing failed"),
            ("no problem", "<!-- exits: 1 0 -->\n```console\n$ false\n$ true\n```\n", ""),
        ]
        for number, (name, text, expected) in enumerate(rows):
            page = Path(self.directory.name) / str(number) / "problems.md"
            page.parent.mkdir()
            page.write_text(text)
            with self.subTest(name):
                problems = self.find_problems(page)
                self.assertIn(expected, problems)
                self.assertEqual(problems == "", expected == "")


def add_tests():
    for page in PAGES:
        name = "test_" + page.stem.lower().replace("-", "_")
        name += "_index" if page == PROJECT / "docs/README.md" else ""
        setattr(Pages, name, lambda self, page=page: self.check_page(page))


# Places that list lock files for another program: cache keys, filters of bots and hooks, loops over files, attributes.
FILTERS = re.compile(r"hashFiles|ls-files|fileFilters|\bfiles:|when_modified|merge=tofu-modlock|\*\*/")
PROVIDERS = re.compile(r"\.terraform\\?\.lock")
MODULES = re.compile(r"\.terraform\\?\.modules\\?\.lock")
EITHER = re.compile(r"\.terraform(\(\\\.modules\)\?|\*)\\?\.lock")  # a pattern that matches both names
TEMPLATES = [PROJECT / ".pre-commit-hooks.yaml",
             *sorted(file for name in ("gitlab", "init", "terragrunt", "lock-bot", "tofu-modlock-wrapper")
                     for place in [PROJECT / "scripts" / name]
                     for file in ([place] if place.is_file() else place.iterdir()))]
BOTH = {"adoption.md", "bots.md", "ci.md", "first-lock.md", "hosts.md", "scanners.md", "settings.md", "team.md",
        "terragrunt.md", "wrapper.md"}  # pages about an integration or a set-up


def one_sided(text, is_whole=False):
    """The lines that list one lock file without the other on a line next to it; with `is_whole` 0 for such a text."""
    lines = text.splitlines()
    found = []
    for i, line in enumerate(lines):
        near = "\n".join(lines[max(i - 1, 0):i + 2])
        names = [bool(name.search(line)) for name in (PROVIDERS, MODULES)]
        if FILTERS.search(line) and any(names) and not EITHER.search(line) and not (
                PROVIDERS.search(near) and MODULES.search(near)):
            found.append(i + 1)
    names = [bool(name.search(text) or EITHER.search(text)) for name in (PROVIDERS, MODULES)]
    return found + ([0] if is_whole and names[0] != names[1] else [])


class LockFiles(unittest.TestCase):
    """What lists lock files names .terraform.lock.hcl and .terraform.modules.lock.hcl."""

    def test_every_integration_names_both(self):
        self.assertLessEqual(BOTH, {page.name for page in PAGES})
        for file in [*PAGES, *TEMPLATES]:
            with self.subTest(file.name):
                self.assertEqual(one_sided(file.read_text(encoding="utf-8"), file in TEMPLATES or file.name in BOTH), [])

    def test_one_name_is_found(self):
        both = "':(glob)**/.terraform.lock.hcl' ':(glob)**/.terraform.modules.lock.hcl'"
        rows = [
            ("a loop", "git ls-files -z ':(glob)**/.terraform.lock.hcl' |", [1, 0]),
            ("a loop over both", f"git ls-files -z {both} |", []),
            ("a cache key", "steps:\n  key: ${{ hashFiles('**/.terraform.lock.hcl') }}", [2, 0]),
            ("a hook", r"files: (\.tf|\.terraform\.lock\.hcl)$", [1, 0]),
            ("a hook for both", r"files: (\.tf|\.terraform(\.modules)?\.lock\.hcl)$", []),
            ("a bot", '"fileFilters": ["**/.terraform.modules.lock.hcl"]', [1, 0]),
            ("two attributes", ".terraform.lock.hcl merge=tofu-modlock\n.terraform.modules.lock.hcl merge=tofu-modlock", []),
            ("one attribute, and the other name far away",
             ".terraform.lock.hcl merge=tofu-modlock\n\n\n.terraform.modules.lock.hcl", [1]),
            ("a page", "Commit `.terraform.lock.hcl`.", [0]),
            ("a page without lock files", "Commit it.", []),
        ]
        for name, text, expected in rows:
            with self.subTest(name):
                self.assertEqual(one_sided(text, True), expected)


class Names(unittest.TestCase):
    """The commands and flags in the text of the pages exist."""

    @classmethod
    def setUpClass(cls):
        cls.flags = {command: cls.help_flags(command) for command in cls.help_commands()}
        cls.flags[""] = cls.help_flags()

    @staticmethod
    def help_text(*words):
        ran = subprocess.run([BINARY, *words, "--help-all"], capture_output=True, text=True, check=False)
        if ran.returncode != 0:
            ran = subprocess.run([BINARY, *words, "--help"], capture_output=True, text=True, check=True)
        return ran.stdout

    @classmethod
    def help_flags(cls, *words):
        text = cls.help_text(*words)
        nested = re.findall(r"^  ([a-z][\w-]*) ", text.partition("Subcommands:")[2], re.MULTILINE) if words else []
        return set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", text)).union(*(cls.help_flags(*words, name) for name in nested))

    @classmethod
    def help_commands(cls):
        """The names in lines such as `  lock   Update …` and `  inspect, tree   Show …` of the help."""
        lines = re.findall(r"^ {2,4}([a-z][\w-]*(?:, [a-z][\w-]*)*)(?: [A-Z|a-z\[\].]+)*\s{2,}", cls.help_text(), re.MULTILINE)
        return [name for line in lines for name in line.split(", ")]

    def test_names(self):
        everything = set().union(*self.flags.values())
        missing = []
        for page in PAGES:
            if page.name in ("architecture.md", "benchmarks.md"):  # they also name flags of other programs
                continue
            text = page.read_text(encoding="utf-8")
            commands = [command for block in blocks.read_blocks(text) if block.language in blocks.LANGUAGES
                        for command, _ in block.commands()]
            prose = re.sub(r"^\s*```.*?^\s*```$", "", text, flags=re.MULTILINE | re.DOTALL)
            commands += re.findall(r"(?<!`)`([^`\n]+)`(?!`)", prose)
            for command in commands:
                missing += [f"{page.name}: {name}" for name in self.missing_names(command, everything)]
        self.assertEqual(missing, [])

    def test_links(self):
        """Every relative link names a file and, after #, a heading or an anchor of it."""
        missing = []
        for page in [*PAGES, *sorted((PROJECT / "docs/development/decisions").glob("*.md")), PROJECT / "CONTRIBUTING.md"]:
            for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
                name, _, anchor = target.partition("#")
                file = page if not name else page.parent / name
                if ":" not in target and not (file.exists() and (not anchor or anchor in self.anchors(file))):
                    missing.append(f"{page.relative_to(PROJECT)}: {target}")
        self.assertEqual(missing, [])

    def test_index(self):
        """docs/README.md names every page, and at most two for each common task; README.md names docs/README.md."""
        index = PROJECT / "docs/README.md"
        text = index.read_text(encoding="utf-8")
        tasks = re.search(r"^## Common tasks$(.*?)^## ", text, re.MULTILINE | re.DOTALL)[1]
        rows = [re.findall(r"\]\(([\w/-]+\.md)", row) for row in re.findall(r"^\| .*\]\(.*$", tasks, re.MULTILINE)]
        self.assertEqual(len(rows), 12)
        self.assertEqual([row for row in rows if not 1 <= len(row) <= 2], [])
        named = set(re.findall(r"\]\(([\w/-]+\.md)", text))
        self.assertEqual({page.relative_to(index.parent).as_posix() for page in PAGES[1:]} - named, {"README.md"})
        self.assertIn("](docs/README.md)", PAGES[0].read_text(encoding="utf-8"))

    def test_variables(self):
        """docs/exit-codes.md has every variable of tofu-modlock that the program or a script reads."""
        read = [file for name in ("protocol", "backends", "plugin", "scripts") for file in (PROJECT / name).rglob("*")
                if file.is_file()]
        variables = {name for file in [*read, PROJECT / "action.yml"]
                     for name in re.findall(r"\bTOFU_MODLOCK_[A-Z_]*[A-Z]\b", file.read_text(encoding="utf-8", errors="replace"))}
        page = (PROJECT / "docs/exit-codes.md").read_text(encoding="utf-8")
        self.assertGreater(len(variables), 15)
        self.assertEqual(sorted(name for name in variables if f"`{name}`" not in page), [])

    @staticmethod
    def anchors(file):
        """The anchors that GitHub gives to headings, and those that the page writes."""
        text = re.sub(r"^\s*```.*?^\s*```$", "", file.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
        slugs = {re.sub(r"[^\w\- ]", "", re.sub(r"\[(.*?)\]\(.*?\)", r"\1", heading)).lower().replace(" ", "-") for heading in headings}
        return slugs | set(re.findall(r'id="([^"]+)"', text))

    def missing_names(self, command, everything):
        command = re.sub(r"\$\([^)]*\)", "", command.replace("\\\n", " "))
        for part in re.split(r"&&|[;|\n]", command):
            words = part.split(" # ")[0].split()
            if "tofu-modlock" not in words:
                continue
            words = words[words.index("tofu-modlock") + 1:]
            if not words or words[0] in ("COMMAND", "x86-64") or words[0].startswith(("-", "<", "%")):
                continue
            if words[0] not in self.flags:
                yield f"tofu-modlock {words[0]}"
                continue
            for word in words[1:]:
                if word == "--":
                    break
                flag = word.lstrip("[").rstrip("]").split("=")[0]
                if flag.startswith("-") and flag not in self.flags[words[0]] and flag.rstrip(",)") not in everything:
                    yield f"tofu-modlock {words[0]} {flag}"


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    BINARY = str(Path(sys.argv.pop(1)).resolve())
    add_tests()
    unittest.main()
