"""scripts/check-lock and the program beside it, over the test vectors and installed modules: check_lock_test.py BINARY.

The programs share no code. For each vector and each fixture, the same modules are red in `verify --strict --include modules` and
in check-lock, with the same exit code, except that check-lock has one verdict for stale and tampered.
"""

import base64
import importlib.machinery
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parent.parent
sys.path.insert(0, str(PROJECT / "tests/docs"))
import servers  # noqa: E402

BINARY = str(pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else "").resolve())
MEMORY = 400 << 20  # that check-lock may use
CHECK_LOCK = PROJECT / "scripts/check-lock"
check_lock = importlib.machinery.SourceFileLoader("check_lock", str(CHECK_LOCK)).load_module()


def vectors(kind):
    """Name -> case of each file of one directory."""
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted((HERE / kind).glob("*.json"))}


def value(case, name):
    """The bytes of a text that is in base64 if it is not UTF-8."""
    return base64.b64decode(case[name + "_base64"]) if name + "_base64" in case else case[name].encode()


def write_tree(root, entries):
    for entry in entries:
        path = os.path.join(os.fsencode(root), value(entry, "path"))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if "content" in entry:
            with open(path, "wb") as file:
                file.write(base64.b64decode(entry["content"]))
            os.chmod(path, int(entry.get("mode", "0644"), 8))
        elif "pipe" in entry:
            os.mkfifo(path)
        elif "directory" in entry:
            os.makedirs(path, exist_ok=True)
        else:
            os.symlink(value(entry, "link"), path)


def content_of(root):
    """What a command must not change: each path with its kind, times and size."""
    return {os.path.join(directory, name): (status.st_mode, status.st_size, status.st_mtime_ns, status.st_ino)
            for directory, names, files, handle in os.fwalk(os.fsencode(root)) for name in names + files
            for status in [os.lstat(name, dir_fd=handle)]}


class Base(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="modlock-vectors-"))
        self.addCleanup(shutil.rmtree, self.directory)
        self.environment = {name: text for name, text in os.environ.items() if not name.startswith("TF_")} | {
            "HOME": str(self.directory), "GIT_CONFIG_NOSYSTEM": "1", "TOFU_MODLOCK_IMPLEMENTATION": "opentofu",
            "TOFU_MODLOCK_CACHE_DIR": str(self.directory / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}

    def run_check(self, root, *arguments, **variables):
        """(exit code, key -> verdict, error text) of check-lock. It changes nothing."""
        before = content_of(root)
        ran = subprocess.run([sys.executable, CHECK_LOCK, *arguments], cwd=root, env=self.environment | variables, text=True,
                             capture_output=True, check=False, timeout=120,
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)))
        self.assertEqual(content_of(root), before)
        self.assertNotIn("Traceback", ran.stderr)
        lines = [line for line in ran.stdout.splitlines() if "  module." in line]
        return ran.returncode, {line[13:].split("  ")[0].removeprefix("module."): line[:11].strip() for line in lines}, ran.stderr

    def run_verify(self, root):
        """(exit code, key -> verdict) of the program."""
        ran = subprocess.run([BINARY, "verify", "--strict", "--include", "modules", "--json"], cwd=root, env=self.environment,
                             text=True, capture_output=True, check=False, timeout=60)
        verdicts = json.loads(ran.stdout).get("verdicts", [])
        return ran.returncode, {verdict["subject"].removeprefix("module."): verdict["verdict"] for verdict in verdicts}

    def compare(self, root, expected=None, verify_code=None):
        """The verdicts of check-lock. The same modules are red in both programs, with the same exit code or the expected ones."""
        code, verdicts, errors = self.run_check(root)
        ran_code, verified = self.run_verify(root)
        shown = (verdicts, verified, errors)
        red = {key for key, verdict in verdicts.items() if verdict not in ("same", "skipped")}
        if ran_code not in (1, 8):  # an error has no verdicts
            self.assertEqual(red, {key for key, verdict in verified.items() if verdict != "held"}, shown)
        self.assertEqual(code, ran_code if expected is None else expected, shown)
        self.assertEqual(ran_code, code if verify_code is None else verify_code, shown)
        return verdicts


class Vectors(Base):
    def test_there_are_enough(self):
        self.assertGreaterEqual(sum(len(vectors(kind)) for kind in ("trees", "locks", "roots")), 60)

    def make_root_of_trees(self, wrong=False):
        """A root module with a call for each tree, installed as a client does."""
        root = self.directory / "trees"
        root.mkdir()
        records, calls, blocks = [{"Key": "", "Source": "", "Dir": "."}], [], []
        for name, case in vectors("trees").items():
            write_tree(root / f".terraform/modules/{name}", case["tree"])
            (root / f".terraform/modules/{name}").mkdir(exist_ok=True)
            source = f"git::https://git.example.test/{name}.git?ref={'1' * 40}"
            h1 = "h1:" + "A" * 43 + "=" if wrong or "refused" in case else case["h1"]
            records.append({"Key": name, "Source": source, "Dir": f".terraform/modules/{name}"})
            calls.append(f'module "{name}" {{\n  source = "{source}"\n}}\n')
            blocks.append(f'\nmodule "{name}" {{\n  source = "{source}"\n\n  hashes = [\n    "git:{"1" * 40}",\n    "{h1}",\n  ]\n}}\n')
        (root / "main.tf").write_text("".join(calls))
        (root / ".terraform.lock.hcl").write_text("".join(blocks))
        (root / ".terraform/modules/modules.json").write_text(json.dumps({"Modules": records}))
        return root

    def test_trees_in_both_programs(self):
        cases = vectors("trees")
        for wrong in (False, True):
            with self.subTest(wrong=wrong):
                root = self.make_root_of_trees(wrong)
                verdicts = self.compare(root)
                shutil.rmtree(root)
                self.assertEqual(verdicts, {name: "differs" if wrong or "refused" in case else "same" for name, case in cases.items()})

    def test_trees(self):
        for name, case in vectors("trees").items():
            with self.subTest(name):
                root = self.directory / name
                root.mkdir()
                write_tree(root, case["tree"])
                if "refused" in case:
                    with self.assertRaises((ValueError, OSError)):
                        check_lock.hash_tree(os.fsencode(root))
                    continue
                self.assertEqual(check_lock.hash_tree(os.fsencode(root)), case["h1"])
                lines = case.get("list") or [base64.b64decode(line).decode("latin-1") for line in case.get("list_base64", [])]
                listing = b"".join(line.encode("utf-8" if "list" in case else "latin-1") + b"\n" for line in lines)
                digest = check_lock.hashlib.sha256(listing).digest()
                self.assertEqual("h1:" + base64.b64encode(digest).decode(), case["h1"])

    def test_lock_files(self):
        for name, case in vectors("locks").items():
            with self.subTest(name):
                root = self.directory / name
                root.mkdir()
                (root / "main.tf").write_text("# nothing is called\n")
                lock = root / ".terraform.lock.hcl"
                lock.write_bytes(value(case, "lock"))
                is_read = "refused" not in case and case.get("written", True)
                entries = case.get("entries", {})
                code, verdicts, _ = self.run_check(root)
                ours = {label for label in entries if ":" not in label}
                self.assertEqual(code, (3 if ours else 0) if is_read else 8)
                self.assertEqual(set(verdicts), set(entries) if is_read else set())
                if is_read:
                    self.assertEqual(check_lock.read_lock(os.fsencode(lock)), {
                        label: (entry.get("version", ""), entry["source"], set(entry["hashes"])) for label, entry in entries.items()})
                code, verdicts = self.run_verify(root)
                self.assertEqual(code, 8 if "refused" in case else 3 if ours else 0)
                self.assertEqual(set(verdicts), ours)

    def test_root_modules(self):
        for name, case in vectors("roots").items():
            with self.subTest(name):
                root = self.directory / name
                root.mkdir()
                write_tree(root, case["files"])
                self.assertEqual(self.compare(root, case["exit"], case.get("verify")), case["verdicts"])


class Fixtures(Base):
    """Modules that the program locks and installs from servers."""

    def setUp(self):
        super().setUp()
        for name in ("repositories", "root", "work"):
            (self.directory / name).mkdir()
        self.servers = servers.Servers(self.directory / "servers")
        self.addCleanup(self.servers.stop)
        self.environment |= self.servers.environment(self.directory / "repositories")
        self.root = self.directory / "root"
        self.publish("label", "v1", {"main.tf": "# label\n", "empty.tf": ""})
        label = "git::https://git.example.test/label.git?ref=v1"
        self.publish("network", "v1", {"modules/a/main.tf": f'module "label" {{\n  source = "{label}"\n}}\n'
                                       'module "b" {\n  source = "../b"\n}\n', "modules/b/main.tf": "# b\n", "run.sh": "#!/bin/sh\n",
                                       "caf\u00e9.txt": "x\r\n"})
        (self.root / "main.tf").write_text("".join(f'module "{name}" {{\n  source = "{source}"\n{more}}}\n' for name, source, more in (
            ("network", "git::https://git.example.test/network.git//modules/a?ref=v1", ""), ("label", label, ""), ("here", "./here", ""),
            ("registry", "registry.example.test/acme/network/aws", '  version = "1.0.0"\n'))))
        (self.root / "here").mkdir()
        (self.root / "here/main.tf").write_text("# here\n")
        self.modlock("lock", "--install")

    def publish(self, name, tag, files):
        work = self.directory / "work" / name
        for file, text in files.items():
            (work / file).parent.mkdir(parents=True, exist_ok=True)
            (work / file).write_bytes(text.encode())
        (work / "alias").symlink_to(next(iter(files)))
        git = ["git", "-c", "user.name=user", "-c", "user.email=user@example.test", "-C", str(work)]
        (work / "run.sh").exists() and (work / "run.sh").chmod(0o755)
        for command in (["init", "-q", "--initial-branch=main"], ["add", "-A"], ["commit", "-q", "-m", tag], ["tag", tag]):
            subprocess.run([*git, *command], env=self.environment, check=True, capture_output=True)
        subprocess.run(["git", "clone", "-q", "--bare", work, self.directory / f"repositories/{name}.git"], env=self.environment,
                       check=True, capture_output=True)

    def modlock(self, *arguments):
        ran = subprocess.run([BINARY, *arguments], cwd=self.root, env=self.environment, text=True, capture_output=True, check=False)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)

    def test_the_same_modules_are_red(self):
        modules = self.root / ".terraform/modules"
        everything = ["label", "network", "network.label", "registry"]
        self.assertEqual(self.compare(self.root), dict.fromkeys(everything, "same"))
        settings = self.root / ".tofu-modlock.hcl"

        def record(key, name, text):
            path = modules / "modules.json"
            data = json.loads(path.read_text())
            next(item for item in data["Modules"] if item["Key"] == key)[name] = text
            path.write_text(json.dumps(data))

        def edit_lock(old, new):
            lock = self.root / ".terraform.lock.hcl"
            self.assertIn(old, lock.read_text())
            lock.write_text(lock.read_text().replace(old, new))

        def take_sidecar():
            settings.write_text('module_lock_file = "sidecar"\n')
            self.modlock("lock")

        def replace_by_file(path):
            text = path.read_bytes()
            path.unlink()
            path.write_bytes(text)

        rows = [
            ("a file was changed", lambda: (modules / "label/main.tf").write_text("# other\n"), {"label": "differs"}),
            ("a file below a nested call", lambda: (modules / "network.label/new").write_text(""), {"network.label": "differs"}),
            ("an empty file was removed", lambda: (modules / "label/empty.tf").unlink(), {"label": "differs"}),
            ("a neighbor of the subdirectory", lambda: (modules / "network/modules/b/main.tf").write_text(""), {"network": "differs"}),
            ("an empty directory is no difference", lambda: (modules / "network/more").mkdir(), {}),
            ("modes are no difference", lambda: (modules / "network/run.sh").chmod(0o600), {}),
            (".git is no difference", lambda: (modules / "label/.git").write_text("gitdir: x\n"), {}),
            ("a link and its content are the same", lambda: replace_by_file(modules / "label/alias"), {}),
            ("a module of a registry", lambda: (modules / "registry/main.tf").write_text("# other\n"), {"registry": "differs"}),
            ("a module was removed", lambda: shutil.rmtree(modules / "registry"), {"registry": "missing"}),
            ("another version is recorded", lambda: record("registry", "Version", "1.1.0"), {"registry": "missing"}),
            ("another directory is recorded", lambda: record("label", "Dir", "here"), {"label": "differs"}),
            ("another directory of a local module", lambda: record("network.b", "Dir", "here"), {"network.b": "differs"}),
            ("an entry was removed", lambda: edit_lock('module "label"', 'module "x:label"'), {"label": "no entry"}),
            ("module blocks in the sidecar", take_sidecar, {}),
        ]
        shutil.copytree(self.root, self.directory / "saved", symlinks=True)
        for name, change, red in rows:
            with self.subTest(name):
                shutil.rmtree(self.root)
                shutil.copytree(self.directory / "saved", self.root, symlinks=True)
                change()
                verdicts = self.compare(self.root)
                self.assertEqual({key: verdict for key, verdict in verdicts.items() if verdict not in ("same", "skipped")}, red)

    def test_another_data_directory(self):
        (self.root / ".terraform").rename(self.root / "data")
        manifest = self.root / "data/modules/modules.json"
        manifest.write_text(manifest.read_text().replace(".terraform/", "data/"))
        self.assertEqual(self.run_check(self.root)[0], 3)
        self.environment |= {"TF_DATA_DIR": "data"}
        self.assertEqual(set(self.compare(self.root).values()), {"same"})


class Attacks(Base):
    """Files that someone wrote in order to break check-lock: an exit code and one line, within the time limit."""

    BLOCK = 'module "a" {\n  source = "git::https://git.example.test/a.git"\n\n  hashes = [\n    "h1:' + "A" * 43 + '=",\n  ]\n}\n'

    def test_files(self):
        def lock(text):
            return lambda root: (root / ".terraform.lock.hcl").write_bytes(text if isinstance(text, bytes) else text.encode())

        def manifest(text, then=lambda root: None):
            def write(root):
                lock(self.BLOCK)(root)
                (root / ".terraform/modules").mkdir(parents=True)
                (root / ".terraform/modules/modules.json").write_bytes(text if isinstance(text, bytes) else text.encode())
                then(root)
            return write

        def record(directory, **more):
            return json.dumps({"Modules": [{"Key": "a", "Source": "git::https://git.example.test/a.git", "Dir": directory} | more]})

        def package(make):
            def write(root):
                manifest(record(".terraform/modules/a"))(root)
                (root / ".terraform/modules/a").mkdir()
                make(root / ".terraform/modules/a")
            return write

        def pipe(name):
            return lambda root: (lock(self.BLOCK)(root), (root / name).unlink(missing_ok=True),
                                 (root / name).parent.mkdir(parents=True, exist_ok=True), os.mkfifo(root / name))

        def deep(path):
            handle = os.open(path, os.O_RDONLY)
            for _ in range(20):  # together longer than a path may be
                os.mkdir("d" * 250, dir_fd=handle)
                inner = os.open("d" * 250, os.O_RDONLY, dir_fd=handle)
                os.close(handle)
                handle = inner
            os.close(handle)

        rows = [
            ("no lock file", lambda root: None, 3),
            ("a line of 100 MB", lock(b'module "' + b"a" * 100_000_000), 8),
            ("a line of 15 MB", lock(b'module "' + b"a" * 15_000_000), 8),
            ("open blocks", lock(b'module "a" {\n' * 300_000), 8),
            ("quotes", lock(b'module "' + b'" {' * 1_000_000), 8),
            ("hashes", lock(b'module "a" {\n  hashes = [\n' + b'    "h1:",\n' * 300_000), 8),
            ("backslashes", lock(b'module "' + b"\\\\" * 100_000 + b'" {\n  source = "b"\n}\n'), 3),
            ("line feeds", lock(b"\n" * 3_000_000), 0),
            ("a heredoc", lock('module "a" {\n  source = <<EOT\na\nEOT\n}\n'), 8),
            ("a function", lock('module "a" {\n  source = file("/etc/passwd")\n}\n'), 8),
            ("a directory", lambda root: (root / ".terraform.lock.hcl").mkdir(), 8),
            ("a pipe as lock file", pipe(".terraform.lock.hcl"), 8),
            ("a pipe as sidecar", pipe(".terraform.modules.lock.hcl"), 8),
            ("a pipe as modules.json", pipe(".terraform/modules/modules.json"), 1),
            ("a link to a device", lambda root: (root / ".terraform.lock.hcl").symlink_to("/dev/zero"), 8),
            ("a link to itself", lambda root: (lock("")(root), (root / ".terraform.modules.lock.hcl").symlink_to(
                ".terraform.modules.lock.hcl")), 8),
            ("a data directory that is a link", lambda root: (lock(self.BLOCK)(root), (root / ".terraform").symlink_to("/")), 8),
            ("a modules directory that is a link",
             lambda root: (lock(self.BLOCK)(root), (root / ".terraform").mkdir(), (root / ".terraform/modules").symlink_to("/")), 8),
            ("no JSON", manifest("{"), 1),
            ("a list", manifest("[]"), 1),
            ("a number", manifest("1"), 1),
            ("a text", manifest('"a"'), 1),
            ("modules that are a number", manifest('{"Modules": 1}'), 1),
            ("records that are lists", manifest('{"Modules": [[]]}'), 1),
            ("a key that is a list", manifest('{"Modules": [{"Key": ["a"]}]}'), 1),
            ("a directory that is a number", manifest('{"Modules": [{"Key": "a", "Dir": 7}]}'), 1),
            ("100,000 levels", manifest("[" * 100_000), 1),
            ("100,000 objects in each other", manifest('{"Modules":' * 100_000), 1),
            ("half of a surrogate pair", manifest('{"Modules": [{"Key": "\\ud800"}]}'), 1),
            ("NUL in a directory", manifest(record("a\0b")), 1),
            ("JSON that is not UTF-8", manifest(b'{"Modules": [{"Key": "\xff"}]}'), 1),
            ("a member twice", manifest('{"Modules": [], "Modules": []}'), 1),
            ("NaN", manifest('{"Modules": NaN}'), 1),
            ("a directory above", manifest(record("../..")), 3),
            ("a directory that climbs out", manifest(record(".terraform/modules/a/../../../..")), 3),
            ("an absolute directory", manifest(record("/etc")), 3),
            ("a key that is a path", manifest(record("x", Key="../../../etc")), 3),
            ("a key with control characters", manifest(record("x", Key="\x1b[31m\n")), 3),
            ("a very long key", manifest(record("x", Key="k" * 100_000)), 3),
            ("a pipe in a package", package(lambda path: os.mkfifo(path / "p")), 4),
            ("a link to a pipe outside", package(lambda path: (os.mkfifo(path.parents[2] / "p"), (path / "l").symlink_to("../../../p"))), 4),
            ("a link to a device in a package", package(lambda path: (path / "l").symlink_to("/dev/zero")), 4),
            ("a cycle", package(lambda path: ((path / "a").symlink_to("b"), (path / "b").symlink_to("a"))), 4),
            ("names that are not UTF-8", package(lambda path: open(os.fsencode(path) + b"/\xff\xfe", "wb").close()), 4),
            ("a name with a line feed", package(lambda path: (path / "a\nb").touch()), 4),
            ("a path that is too long", package(deep), 4),
            ("a file in place of a package", manifest(record(".terraform/modules/a"), lambda root: (
                root / ".terraform/modules/a").write_text("")), 3),
            ("a file that is not readable", package(lambda path: ((path / "x").touch(), (path / "x").chmod(0))), 4),
        ]
        for name, make, expected in rows:
            with self.subTest(name):
                root = self.directory / "attack"
                root.mkdir()
                make(root)
                code, verdicts, errors = self.run_check(root)
                self.assertEqual(code, expected, (verdicts, errors))
                self.assertTrue(verdicts or errors or expected == 0)
                self.assertTrue((errors + str(verdicts)).isascii() and "\x1b" not in errors + str(verdicts))
                self.assertLessEqual(len(errors.splitlines()), 1)
                shutil.rmtree(root)

    def test_usage_and_several_root_modules(self):
        for name, text in (("good", ""), ("bad", "x"), ("missing", self.BLOCK)):
            (self.directory / name).mkdir()
            (self.directory / name / ".terraform.lock.hcl").write_text(text)
        self.assertEqual(self.run_check(self.directory, "--help")[0], 2)
        self.assertEqual(self.run_check(self.directory, "good")[0], 0)
        self.assertEqual(self.run_check(self.directory, "good", "missing")[0], 3)
        self.assertEqual(self.run_check(self.directory, "missing", "bad", "good")[0], 8)
        self.assertEqual(self.run_check(self.directory, "none")[0], 3)

    def test_locale_without_utf_8(self):
        (self.directory / "root").mkdir()
        (self.directory / "root/.terraform.lock.hcl").write_text(self.BLOCK.replace('"a"', '"\u00e9"'), encoding="utf-8")
        for variables in ({"LC_ALL": "C"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, {"PYTHONIOENCODING": "ascii"}):
            with self.subTest(str(variables)):
                self.assertEqual(self.run_check(self.directory / "root", **variables)[0], 3)

    def test_the_program_is_small_and_stands_alone(self):
        text = CHECK_LOCK.read_text(encoding="utf-8")
        self.assertLessEqual(len(text.splitlines()), 250)
        imports = {line.split()[1] for line in text.splitlines() if line.startswith(("import ", "from "))}
        self.assertLessEqual(imports, set(sys.stdlib_module_names) - {"socket", "subprocess", "http", "urllib", "ctypes"})
        for word in ("os.system", "popen", "exec", "eval(", "\"w", "os.O_W", "O_CREAT", "unlink", "remove(", "rename"):
            self.assertNotIn(word, text)


if __name__ == "__main__":
    unittest.main()
