#!/usr/bin/env python3
"""What the benchmark of providers publishes: archives, and the hashes that clients compute of them."""

import hashlib
import json
import os
import sys
import tempfile
import unittest
import zipfile

sys.dont_write_bytecode = True  # the source tree stays as it is

import openpgp
from provider_server import ProviderServer, h1


class ProviderServerTest(unittest.TestCase):
    def test_directory_hash(self):
        self.assertEqual(h1({}), "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")  # as Go's dirhash has it

    def test_armor_checksum(self):
        self.assertEqual(openpgp.checksum(b"123456789"), bytes.fromhex("21cf02"))  # CRC-24/OPENPGP

    def test_archives_are_what_is_said_of_them(self):
        with tempfile.TemporaryDirectory() as directory:
            server = ProviderServer(os.path.join(directory, "server"), 0, 1_000_000)
            server.prepare()
            server.plain_url = "http://localhost:1"
            server.publish(["one", "two"], ["linux_amd64", "darwin_arm64"], 1000, True)
            static = os.path.join(server.home, "static")
            seen = set()
            for name in ("one", "two"):
                with open(os.path.join(static, "v1/providers/bench", name, "1.0.0/download/linux/amd64")) as file:
                    answer = json.load(file)
                path = os.path.join(static, answer["download_url"][len(server.plain_url) + 1:])
                with open(path, "rb") as file:
                    digest = hashlib.sha256(file.read()).hexdigest()
                with zipfile.ZipFile(path) as archive:
                    files = {entry: hashlib.sha256(archive.read(entry)).hexdigest() for entry in archive.namelist()}
                said = answer["packages"]["linux_amd64"]
                self.assertEqual(said["hashes"], [h1(files), "zh:" + digest])
                self.assertEqual(said["package_size"], os.path.getsize(path))
                self.assertEqual(answer["shasum"], digest)
                self.assertTrue(any(entry.startswith("terraform-provider-" + name) for entry in files))
                seen.add(digest)
            self.assertEqual(len(seen), 2)


if __name__ == "__main__":
    unittest.main()
