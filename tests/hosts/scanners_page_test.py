"""The blocks of docs/scanners.md, with the real Checkov and TFLint, if they are on PATH: scanners_page_test.py BINARY."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
HERE = pathlib.Path(__file__).resolve().parent
for place in (HERE, HERE.parent / "docs"):
    sys.path.insert(0, str(place))
import blocks  # noqa: E402
import servers  # noqa: E402

BINARY = str(pathlib.Path(sys.argv.pop(1)).resolve()) if len(sys.argv) > 1 else None
PAGE = (HERE.parent.parent / "docs/scanners.md").read_text(encoding="utf-8")
LABEL = 'output "id" {\n  value = "app"\n}\n'
NETWORK = """terraform {
  required_version = ">= 1.0"
}
module "label" {
  source = "git::https://git.example.test/label.git"
}
resource "aws_s3_bucket" "logs" {
  bucket = "logs"
  acl    = "public-read"
}
"""
ROOT = 'terraform {\n  required_version = ">= 1.0"\n}\nmodule "network" {\n  source = "git::https://git.example.test/network.git"\n}\n'


def block(heading, language, number=0):
    text = re.search(rf"^###? {re.escape(heading)}\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL)[1]
    return "\n".join([found for found in blocks.read_blocks(text) if found.language == language][number].lines) + "\n"


@unittest.skipUnless(shutil.which("openssl"), "needs openssl")
class Scanners(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="modlock-scanners-"))
        self.addCleanup(shutil.rmtree, self.directory)
        for name in ("repositories", "bin", "root"):
            (self.directory / name).mkdir()
        self.servers = servers.Servers(self.directory / "servers")
        self.addCleanup(self.servers.stop)
        self.environment = os.environ | self.servers.environment(self.directory / "repositories") | {
            "HOME": str(self.directory), "GIT_CONFIG_NOSYSTEM": "1", "TOFU_MODLOCK_IMPLEMENTATION": "opentofu",
            "PATH": f"{self.directory}/bin:{os.environ['PATH']}"}
        (self.directory / "bin/tofu-modlock").symlink_to(BINARY)
        (self.directory / ".gitconfig").write_text("[user]\n\tname = user\n\temail = user@example.test\n[init]\n\tdefaultBranch = main\n")
        for name, text in (("label", LABEL), ("network", NETWORK)):
            self.run_command(["git", "init", "-q", name], self.directory)
            (self.directory / name / "main.tf").write_text(text)
            self.run_command(["git", "add", "-A"], self.directory / name)
            self.run_command(["git", "commit", "-q", "-m", "1"], self.directory / name)
            self.run_command(["git", "clone", "-q", "--bare", name, f"repositories/{name}.git"], self.directory)
        self.root = self.directory / "root"
        self.write("main.tf", ROOT)
        self.write(".tofu-modlock.hcl", 'module_lock_file = "sidecar"\n')
        self.run_command(["git", "init", "-q"])
        self.run_command(["tofu-modlock", "lock", "--include", "modules"])

    def write(self, name, text):
        (self.root / name).write_text(text)

    def run_command(self, command, directory=None, exits=(0,)):
        ran = subprocess.run(command, cwd=directory or self.root, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True,
                             text=True, check=False)
        self.assertIn(ran.returncode, exits, ran.stdout + ran.stderr)
        return ran.stdout

    def checkov(self, script):
        """{(rule, resource)} that failed, and that are skipped by a comment, of some rules. Nothing is downloaded."""
        command = script.rstrip("\n") + " --skip-download --output json"
        found = json.loads(re.search(r"^\{.*", self.run_command(["sh", "-ec", command], exits=(0, 1)), re.MULTILINE | re.DOTALL)[0])
        return [{(check["check_id"], check["resource"]) for check in found["results"][kind]
                 if check["check_id"] in ("CKV_TF_1", "CKV_TF_2", "CKV_AWS_20")} for kind in ("failed_checks", "skipped_checks")]

    def tflint(self, script):
        """(rules, errors) of TFLint."""
        found = json.loads(re.search(r"^\{.*", self.run_command(["sh", "-ec", script.rstrip("\n") + " --format=json"], exits=(0, 1, 2)),
                                     re.MULTILINE | re.DOTALL)[0])
        return {issue["rule"]["name"] for issue in found["issues"]}, [error.get("summary", "") + error["message"] for error in found["errors"]]

    def test_a_call_that_is_not_locked_stops_the_job(self):
        command = ["sh", "-ec", block("Turn the rules off for locked calls", "sh")]
        self.run_command(command)
        self.write("more.tf", 'module "more" {\n  source = "git::https://git.example.test/label.git"\n}\n')
        self.run_command(command, exits=(3,))

    @unittest.skipUnless(shutil.which("checkov"), "needs checkov")
    def test_checkov(self):
        scan = block("Scan the locked modules", "sh")
        rules = {("CKV_TF_1", "network"), ("CKV_TF_2", "network")}
        self.assertEqual(self.checkov(scan.splitlines()[1]), [rules, set()])
        bucket = ("CKV_AWS_20", "module.network.aws_s3_bucket.logs")
        nested = {(rule, f"{module}label") for rule in ("CKV_TF_1", "CKV_TF_2") for module in ("module.network.",)}
        self.assertEqual(self.checkov(scan), [rules | nested | {bucket}, set()])
        self.write(".checkov.yaml", block("Checkov", "yaml"))
        self.assertEqual(self.checkov(scan), [{bucket}, set()])

    @unittest.skipUnless(shutil.which("checkov"), "needs checkov")
    def test_checkov_comments(self):
        self.write("main.tf", block("Checkov", "hcl"))
        failed, skipped = self.checkov("checkov --directory . --framework terraform")
        self.assertEqual((failed, skipped), (set(), {("CKV_TF_1", "network"), ("CKV_TF_2", "network")}))

    @unittest.skipUnless(shutil.which("tflint"), "needs tflint")
    def test_tflint(self):
        scan = block("Scan the locked modules", "sh", 1)
        self.assertEqual(self.tflint("tflint"), ({"terraform_module_pinned_source"}, []))
        rules, errors = self.tflint(scan.splitlines()[1])
        self.assertIn("module is not found", errors[0])
        self.assertEqual(self.tflint(scan), ({"terraform_module_pinned_source"}, []))
        self.write(".tflint.hcl", block("TFLint", "hcl"))
        self.assertEqual(self.tflint("tflint"), (set(), []))
        (self.root / ".tflint.hcl").unlink()
        self.write("main.tf", ROOT.split("module")[0] + block("TFLint", "hcl", 1))
        self.assertEqual(self.tflint("tflint"), (set(), []))


if __name__ == "__main__":
    unittest.main(warnings="ignore")
