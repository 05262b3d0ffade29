"""What 0.2.0 had is still there: settings, commands, flags, variables, methods, members and codes (docs/upgrade.md).
What it wrote is still read: written_by_0.2.0.tar.gz has a cache, a bundle as a directory and as an archive, settings of
a user, and two root modules (one with a separate lock file) with their settings, locks and installed modules.

`stable_test.py PROGRAM` runs the tests; `stable_test.py --list` prints the names of this version, as
names_of_0.2.0.txt has those of 0.2.0.
"""

import hashlib
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
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


class Registry(http.server.BaseHTTPRequestHandler):
    """Serves the directory of a bundle as the registry to which 0.2.0 pushed it."""

    def do_GET(self):
        blobs = self.server.bundle / "blobs/sha256"
        name = self.path.rpartition("/")[2]
        index = json.loads((self.server.bundle / "index.json").read_text())["manifests"]
        tags = {one["annotations"]["org.opencontainers.image.ref.name"]: one["digest"] for one in index}
        for blob in blobs.iterdir():
            if b'"tofu-modlock.source"' in blob.read_bytes() and b'"layers"' in blob.read_bytes():
                found = json.loads(blob.read_text())["annotations"]
                words = " ".join(found["tofu-modlock." + word] for word in ("source", "origin", "h1"))
                tags["module-" + hashlib.sha256(words.encode()).hexdigest()] = "sha256:" + blob.name
        digest = tags.get(name, name)
        path = blobs / digest.removeprefix("sha256:")
        body = path.read_bytes() if digest.startswith("sha256:") and path.exists() else None
        self.send_response(404 if body is None else 200)
        self.send_header("Docker-Content-Digest", digest)
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")
        self.server.served.append(name if body else "")

    def log_message(self, *_):
        pass


class Written(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        with tarfile.open(HERE / "written_by_0.2.0.tar.gz") as archive:
            archive.extractall(directory.name, filter="data") if hasattr(tarfile, "data_filter") else archive.extractall(
                directory.name)
        self.written = pathlib.Path(directory.name) / "written"
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.written / "home"),
            "TOFU_MODLOCK_CACHE_DIR": str(self.written / "cache"),
            "TOFU_MODLOCK_IMPLEMENTATION": "opentofu",
        }

    def run_program(self, root, *arguments, exit_code=0):
        ran = subprocess.run([sys.argv[1], *arguments], cwd=self.written / root, env=self.environment,
                             capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, exit_code, ran.stdout + ran.stderr)
        return ran.stdout + ran.stderr

    def start_empty(self, root):
        shutil.rmtree(self.written / root / ".terraform")
        shutil.rmtree(self.written / "cache", ignore_errors=True)

    def test_locks_settings_and_the_cache(self):
        for root, name in (("root", ".terraform.lock.hcl"), ("sidecar", ".terraform.modules.lock.hcl")):
            with self.subTest(root):
                lock = self.written / root / name
                before = lock.read_bytes()
                self.run_program(root, "verify")
                self.run_program(root, "lock", "--frozen", "--offline")
                said = self.run_program(root, "lock", "--offline")
                self.assertIn("remote_write", said)
                self.assertEqual(said.count("Warning"), 1, said)
                shutil.rmtree(self.written / root / ".terraform")
                self.run_program(root, "install", "--offline")
                self.run_program(root, "verify")
                self.assertEqual(lock.read_bytes(), before)
        changed = self.written / "root/.terraform/modules/a/main.tf"
        changed.write_text("")
        self.run_program("root", "verify", exit_code=4)

    def test_bundles(self):
        for bundle in ("modules.tar", "modules"):
            for root in ("root", "sidecar"):
                with self.subTest(f"{bundle}, {root}"):
                    self.start_empty(root)
                    self.run_program(root, "bundle", "verify", f"../{bundle}")
                    self.run_program(root, "install", "--offline", "--from", f"../{bundle}")
                    self.run_program(root, "verify")
                    self.run_program(root, "install", "--offline")
                    shutil.move(self.written / root / ".terraform/modules", self.written / root / ".terraform/gone")
                    self.run_program(root, "install", "--offline", "--from", f"../{bundle}")

    def test_a_remote_store(self):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Registry)
        server.bundle = self.written / "modules"
        server.served = []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.environment["TOFU_MODLOCK_REMOTE"] = f"oci://127.0.0.1:{server.server_port}/platform/modules"
        self.environment["TOFU_MODLOCK_REMOTE_PLAIN_HTTP"] = "1"
        for root in ("root", "sidecar"):
            with self.subTest(root):
                self.start_empty(root)
                server.served.clear()
                self.run_program(root, "install")
                self.assertNotEqual(server.served, [])
                self.assertNotIn("", server.served)
                self.run_program(root, "verify")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--list"]:
        print("\n".join(sorted(set(names(pathlib.Path(sys.argv[2]) if sys.argv[2:] else DOCS)))))
    else:
        unittest.main(argv=sys.argv[:1] + sys.argv[2:])
