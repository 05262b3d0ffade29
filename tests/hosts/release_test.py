"""The steps of .github/workflows/release.yml, with a registry and a release on the loopback: release_test.py.

A stand-in for gh publishes into the tree that the loopback serves, and one for scripts/package packages small files.
"""

import hashlib
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from release_tree import PROJECT, Releases, checksums, tarball_name  # noqa: E402
from workflow_steps import read_steps, with_values  # noqa: E402

WORKFLOW = ".github/workflows/release.yml"
VERSION = "1.2.3"
NEEDED = ["docker-registry", "htpasswd", "skopeo"]

# Packages the same bytes for the same source, wherever it is; with a file `random` in the source, other bytes.
PACKAGE = f"""#!{sys.executable}
import os, pathlib, subprocess, sys
sys.dont_write_bytecode = True
sys.path.insert(0, {str(PROJECT / "tests/hosts")!r})
from release_tree import checksums, make_tarball, tarball_name
arch, formats = sys.argv[2], sys.argv[3:]
assert os.environ["MODLOCK_REPOSITORY"] == "Acme/tofu-modlock"
output = pathlib.Path("build/packages")
output.mkdir(parents=True)
program = "#!/bin/sh\\necho {VERSION}\\n" + (f"# {{os.urandom(8).hex()}}\\n" if os.path.exists("random") else "")
for name in formats:
    if name == "tarball":
        (output / tarball_name("{VERSION}", arch)).write_bytes(make_tarball("{VERSION}", program))
    elif name == "image":
        (output / "tofu-modlock-container").write_text("#!/bin/sh\\n")
        subprocess.run(["tar", "--create", "--file", "layer.tar", "--mtime=@0", "--owner=0", "--group=0", "CHANGELOG.md"], check=True)
        archive = [{str(PROJECT / "scripts/package-archive")!r}, "image", "layer.tar", "{VERSION}", "amd64", output]
        subprocess.run(archive, check=True, env=os.environ | {{"SOURCE_DATE_EPOCH": "0"}})
    else:
        file = {{"wheel": f"tofu_modlock-{VERSION}-py3-none-linux_{{arch}}.whl", "deb": "tofu-modlock_{VERSION}_amd64.deb"}}[name]
        (output / file).write_text(name)
files = {{path.name: path.read_bytes() for path in output.iterdir()}}
(output / "SHA256SUMS").write_bytes(checksums(files))
"""

# `release create TAG … FILE…` publishes, and accepts as attested what it published.
GH = f"""#!{sys.executable}
import hashlib, os, pathlib, shutil, sys
releases, arguments = pathlib.Path(os.environ["RELEASES"]), sys.argv[1:]
if arguments[:2] == ["release", "create"]:
    for place in (releases / "download" / arguments[2], releases / "latest/download"):
        place.mkdir(parents=True)
        for name in arguments[3:]:
            if name.startswith("files/"):
                shutil.copy(name, place)
    shutil.copy(arguments[arguments.index("--notes-file") + 1], os.environ["NOTES"])
elif arguments[:2] == ["attestation", "verify"] and arguments[2] != "--help":
    digests = {{hashlib.sha256(path.read_bytes()).hexdigest() for path in releases.glob("download/*/*")}}
    sys.exit(hashlib.sha256(pathlib.Path(arguments[2]).read_bytes()).hexdigest() not in digests)
"""

CURL = """#!/bin/sh
for word; do
  case $word in
    https://git.example.test/*) word={releases}/${{word#https://git.example.test/Acme/tofu-modlock/releases/}} ;;
    =https) word==http ;;
  esac
  set -- "$@" "$word"
  shift
done
exec {curl} "$@"
"""


class Registry:
    """A registry on the loopback that skopeo uses without TLS, for user:token."""

    def __init__(self, directory):
        passwords = subprocess.run(["htpasswd", "-nbB", "-C", "4", "user", "token"], check=True, stdout=subprocess.PIPE).stdout
        (directory / "passwords").write_bytes(passwords)
        for _ in range(5):  # another process may take the free port first
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                port = probe.getsockname()[1]
            self.address = f"127.0.0.1:{port}"
            (directory / "registry.yml").write_text(json.dumps({
                "version": "0.1", "storage": {"filesystem": {"rootdirectory": str(directory / "registry")}},
                "auth": {"htpasswd": {"realm": "tests", "path": str(directory / "passwords")}},
                "http": {"addr": self.address, "secret": "tests"}}))
            self.process = subprocess.Popen(["docker-registry", "serve", str(directory / "registry.yml")],
                                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            deadline = time.monotonic() + 10
            while self.process.poll() is None and time.monotonic() < deadline:
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.01)
            else:
                self.stop()
                continue
            (directory / "registries.conf").write_text(f'[[registry]]\nlocation = "{self.address}"\ninsecure = true\n')
            return
        raise RuntimeError("docker-registry does not start")

    def stop(self):
        self.process.kill()
        self.process.wait()


class Host:
    """Runs the jobs of the workflow as the host of the repository would."""

    def __init__(self, directory, releases, registry):
        self.directory = directory
        self.releases = releases
        self.registry = registry
        self.source = directory / "source"
        for name in ("source/scripts", "bin", "home", "artifacts"):
            (directory / name).mkdir(parents=True)
        shutil.copy(PROJECT / "scripts/install.sh", self.source / "scripts")
        (self.source / "scripts/package").write_text(PACKAGE)
        (self.source / "scripts/package").chmod(0o755)
        (self.source / "CMakeLists.txt").write_text(f"project(tofu-modlock VERSION {VERSION} LANGUAGES CXX\n")
        (self.source / "CHANGELOG.md").write_text(
            f"# Changelog\n\n## Unreleased\n\nnext\n\n## {VERSION} (2026-11-30)\n\n[this](docs/a.md#b), [that](docs/c.md)\n\n## 1.2.0\n\nprevious\n")
        (directory / "bin/gh").write_text(GH)
        (directory / "bin/gh").chmod(0o755)
        # The published script has the address of the repository, which the loopback stands in for.
        (directory / "bin/curl").write_text(CURL.format(releases=releases.address, curl=shutil.which("curl")))
        (directory / "bin/curl").chmod(0o755)
        # `login` does not read which registries have no TLS.
        (directory / "bin/skopeo").write_text('#!/bin/bash\n[ "$1" != login ] || set -- login --tls-verify=false "${@:2}"\n'
                                              f'exec {shutil.which("skopeo")} --registries-conf {directory}/registries.conf "$@"\n')
        (directory / "bin/skopeo").chmod(0o755)
        self.environment = {
            "REGISTRY_AUTH_FILE": str(directory / "home/docker/config.json"), "HOME": str(directory / "home"),
            "PATH": f"{directory}/bin:{os.environ['PATH']}", "LC_ALL": "C.UTF-8",
            "GITHUB_REF_NAME": f"v{VERSION}", "GITHUB_REPOSITORY": "Acme/tofu-modlock", "GITHUB_SERVER_URL": "https://git.example.test",
            "GITHUB_ACTOR": "user", "RELEASES": str(releases.directory), "NOTES": str(directory / "notes.md")}

    def run_step(self, job, name, cwd, values=None, **variables):
        step = next(step for step in read_steps(WORKFLOW, job) if step.get("name") == name)
        output = self.directory / "output"
        output.write_text("")
        environment = self.environment | {"GITHUB_OUTPUT": str(output)}
        environment |= {key: with_values(value, values or {}) for key, value in step.get("env", {}).items()} | variables
        script = self.directory / "step"
        script.write_text(with_values(step["run"], values or {}))
        ran = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", script], cwd=cwd, env=environment,
                             stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        ran.outputs = dict(line.split("=", 1) for line in output.read_text().splitlines())
        return ran

    def package(self):
        """The job `package` of each row of its matrix; what it uploads is in artifacts/."""
        text = (PROJECT / WORKFLOW).read_text()
        for row in re.findall(r"^ +- \{ (name: .*) \}$", text, re.MULTILINE):
            matrix = dict(pair.split(": ") for pair in row.split(", "))
            place = self.directory / matrix["name"] / matrix["directory"]
            shutil.copytree(self.source, place)
            values = {f"matrix.{key}": value for key, value in matrix.items()}
            for name in ("Compare the tag with the version", "Package"):
                ran = self.run_step("package", name, place, values)
                if ran.returncode != 0:
                    return ran
            shutil.move(place / "build/packages", self.directory / "artifacts" / matrix["name"])
        return ran

    def release(self):
        """The jobs `collect` and `release`, up to the first step that fails."""
        place = self.directory / "artifacts"
        shutil.copytree(self.source, place / "source")
        ran = self.run_step("collect", "Compare the packages and collect the files", place)
        if ran.returncode != 0:
            return ran
        collected, place = place, self.directory / "collected"
        place.mkdir()
        for name in read_steps(WORKFLOW, "collect")[-1]["with"]["path"].split():
            shutil.move(collected / name, place)
        image = self.run_step("release", "Push the image", place, {"github.token": "token"}, REGISTRY=self.registry.address,
                              REGISTRY_AUTH_FILE=self.environment["REGISTRY_AUTH_FILE"])
        if image.returncode != 0:
            return image
        values = {"github.token": "token"} | {f"steps.image.outputs.{key}": value for key, value in image.outputs.items()}
        ran = self.run_step("release", "Publish the release", place, values)
        ran.outputs = image.outputs
        return ran


@unittest.skipUnless(all(map(shutil.which, NEEDED)), f"{' or '.join(NEEDED)} is not installed")
class Release(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="modlock-release-"))
        self.addCleanup(shutil.rmtree, self.directory)
        self.releases = Releases()
        self.addCleanup(self.releases.stop)
        self.registry = Registry(self.directory)
        self.addCleanup(self.registry.stop)
        self.host = Host(self.directory, self.releases, self.registry)

    def check_nothing_is_published(self):
        self.assertEqual(list(self.releases.directory.iterdir()), [])
        self.assertFalse((self.directory / "registry/docker/registry/v2/repositories/acme").exists())

    def test_a_tag_is_published(self):
        ran = self.host.package()
        self.assertEqual(ran.returncode, 0, ran.stderr)
        ran = self.host.release()
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        published = self.releases.directory / f"download/v{VERSION}"
        files = {path.name: path.read_bytes() for path in published.iterdir()}
        sums = files.pop("SHA256SUMS")
        self.assertEqual(set(files), {
            "install.sh", tarball_name(VERSION, "x86_64"), tarball_name(VERSION, "aarch64"), "tofu-modlock-container",
            f"tofu-modlock-{VERSION}-image-amd64.oci.tar", f"tofu-modlock_{VERSION}_amd64.deb",
            f"tofu_modlock-{VERSION}-py3-none-linux_x86_64.whl", f"tofu_modlock-{VERSION}-py3-none-linux_aarch64.whl"})
        self.assertEqual(sorted(sums.splitlines()), sorted(checksums(files).splitlines()))
        own = (PROJECT / "scripts/install.sh").read_text()
        self.assertEqual(files["install.sh"].decode(),
                         own.replace("\npublished_by=\n", "\npublished_by=https://git.example.test/Acme/tofu-modlock\n"))
        # The image has the digest of the file, and the notes name it.
        name, digest = f"{self.registry.address}/acme/tofu-modlock", ran.outputs["digest"]
        self.assertEqual(ran.outputs["name"], name)
        raw = subprocess.run([self.directory / "bin/skopeo", "inspect", "--raw", f"docker://{name}@{digest}"], check=True,
                             env=self.host.environment, capture_output=True).stdout
        self.assertEqual(f"sha256:{hashlib.sha256(raw).hexdigest()}", digest)
        pages = f"https://git.example.test/Acme/tofu-modlock/blob/v{VERSION}/docs"
        self.assertEqual((self.directory / "notes.md").read_text(), (
            f"\n[this]({pages}/a.md#b), [that]({pages}/c.md)\n\n## Installation\n\n```\ncurl -fsSL https://git.example.test/Acme/tofu-modlock/releases/download/"
            f"v{VERSION}/install.sh | sh -s -- --version {VERSION}\n```\n\nThe image is `{name}@{digest}`.\n"))
        # The job that installs it.
        ran = self.host.run_step("install", "Install the release", self.directory, {"github.token": "token"})
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        self.assertTrue(ran.stdout.endswith(f"\n{VERSION}\n"), ran.stdout)
        self.assertIn("attestation: verified, from https://git.example.test/Acme/tofu-modlock\n", ran.stdout)

    def test_other_bytes_are_not_published(self):
        (self.host.source / "random").write_text("")
        self.assertEqual(self.host.package().returncode, 0)
        ran = self.host.release()
        self.assertEqual(ran.returncode, 1)
        self.assertIn("differ", ran.stdout)
        self.check_nothing_is_published()

    def test_a_damaged_artifact_is_not_published(self):
        self.assertEqual(self.host.package().returncode, 0)
        for name in ("x86_64", "x86_64-again"):
            (self.directory / "artifacts" / name / tarball_name(VERSION, "x86_64")).write_bytes(b"damaged")
        ran = self.host.release()
        self.assertEqual(ran.returncode, 1)
        self.assertIn("FAILED", ran.stdout)
        self.check_nothing_is_published()

    def test_tags(self):
        for name, tag, changelog in (("another version", "v1.2.4", None), ("no v", VERSION, None),
                                     ("no section in the changelog", f"v{VERSION}", "# Changelog\n\n## Unreleased\n")):
            with self.subTest(name):
                self.host.environment["GITHUB_REF_NAME"] = tag
                if changelog:
                    (self.host.source / "CHANGELOG.md").write_text(changelog)
                shutil.rmtree(self.directory / "x86_64", ignore_errors=True)
                ran = self.host.package()
                self.assertEqual(ran.returncode, 1)
                self.assertIn(f"the tag is {tag}, CMakeLists.txt has the version {VERSION}", ran.stderr)

    def test_a_registry_that_fails_publishes_no_release(self):
        self.assertEqual(self.host.package().returncode, 0)
        self.registry.stop()
        self.assertNotEqual(self.host.release().returncode, 0)
        self.check_nothing_is_published()


class Workflow(unittest.TestCase):
    """What no step can show here."""

    def test_all_files_and_the_image_are_attested_before_the_release(self):
        steps = read_steps(WORKFLOW, "release")
        # Only what another job collected is published, and nothing of the repository runs with these rights.
        self.assertEqual([step["with"] for step in steps if "download-artifact" in step.get("uses", "")], [{"name": "release"}])
        self.assertEqual([step for step in steps if "checkout" in step.get("uses", "") or "source/" in step.get("run", "")], [])
        kinds = [step.get("name") or step["uses"].partition("@")[0] for step in steps]
        attest = "actions/attest-build-provenance"
        self.assertEqual(kinds[-4:], ["Push the image", attest, attest, "Publish the release"])
        self.assertEqual([step["with"] for step in steps if step.get("uses", "").startswith(attest)], [
            {"subject-path": "files/*"},
            {"subject-name": "${{ steps.image.outputs.name }}", "subject-digest": "${{ steps.image.outputs.digest }}",
             "push-to-registry": "true"}])
        text = (PROJECT / WORKFLOW).read_text()
        self.assertIn("\n    permissions:\n      attestations: write\n      contents: write\n      id-token: write\n"
                      "      packages: write\n", text)
        self.assertEqual(text.count(": write\n"), 4)
        self.assertIn("\npermissions:\n  contents: read\n", text)

    def test_each_package_is_made_twice(self):
        rows = re.findall(r"^ +- \{ name: (\S+), arch: (\S+), formats: (.*), directory: (\S+) \}$",
                          (PROJECT / WORKFLOW).read_text(), re.MULTILINE)
        by_arch = {}
        for name, arch, formats, directory in rows:
            by_arch.setdefault((arch, formats), []).append((name, directory))
        self.assertEqual(set(by_arch), {("x86_64", "tarball image wheel deb"), ("aarch64", "tarball wheel")})
        for (arch, _), made in by_arch.items():
            self.assertEqual([name for name, _ in made], [arch, f"{arch}-again"])
            self.assertEqual(len({directory for _, directory in made}), 2)


if __name__ == "__main__":
    unittest.main()
