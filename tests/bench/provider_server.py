"""A provider registry on the loopback: nginx behind a delay, each archive at a limited rate."""

import base64
import hashlib
import json
import os
import random
import shutil
import zipfile

import openpgp
from git_server import GitServer

LOCATIONS = """
location /v1/providers/ {{ root {home}/static; default_type application/json; }}
location /files/ {{ root {home}/static; limit_rate {rate}; }}
"""
VERSION = "1.0.0"


def h1(hashes):
    """The hash of a directory: of its files' names and SHA-256."""
    lines = "".join("%s  %s\n" % (digest, name) for name, digest in sorted(hashes.items()))
    return "h1:" + base64.b64encode(hashlib.sha256(lines.encode()).digest()).decode()


class ProviderServer(GitServer):
    """Serves bench/<name> for every name of `publish`. An archive never comes faster than `rate` bytes a second."""

    def __init__(self, home, delay_ms, rate):
        super().__init__(home, os.path.join(home, "no-repositories"), delay_ms)
        self.rate = rate

    def prepare(self):
        with open(self.path("providers.locations"), "w") as file:
            file.write(LOCATIONS.format(home=self.home, rate=int(self.rate)))
        self.key = openpgp.Key(self.home)

    def host_blocks(self):
        return "".join('host "%s" {\n  services = { "providers.v1" = "%s/v1/providers/" }\n}\n' % (
            host, self.plain_url) for host in ("registry.opentofu.org", "registry.terraform.io"))

    def write(self, path, content):
        path = os.path.join(self.home, "static", path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else json.dumps(content).encode())
        return path

    def publish(self, names, platforms, size, with_packages):
        """Archives of `size` bytes, twice as much unpacked, each another one."""
        source = random.Random(100)
        data = source.randbytes(size).hex().encode()
        digest = hashlib.sha256(data).hexdigest()
        common = self.write("common.zip", b"")
        with zipfile.ZipFile(common, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            archive.writestr("data", data)
        for name in names:
            self.publish_one(name, platforms, common, digest, with_packages)

    def publish_one(self, name, platforms, common, digest, with_packages):
        base = "files/%s/" % name
        sums, packages = "", {}
        for platform in platforms:
            path = self.write(base + self.file_name(name, platform), b"")
            shutil.copy(common, path)
            program = "terraform-provider-%s_v%s" % (name, VERSION)
            content = ("%s for %s\n" % (name, platform)).encode()
            with zipfile.ZipFile(path, "a") as archive:
                archive.writestr(program, content)
            with open(path, "rb") as file:
                zh = hashlib.file_digest(file, "sha256").hexdigest()
            sums += "%s  %s\n" % (zh, self.file_name(name, platform))
            hashes = {program: hashlib.sha256(content).hexdigest(), "data": digest}
            packages[platform] = {"hashes": [h1(hashes), "zh:" + zh], "package_size": os.path.getsize(path)}
        self.write(base + "SHA256SUMS", sums.encode())
        self.write(base + "SHA256SUMS.sig", self.key.sign(sums.encode()))
        listing = [{"version": VERSION, "protocols": ["5.0"],
                    "platforms": [dict(zip(("os", "arch"), platform.split("_"))) for platform in platforms]}]
        self.write("v1/providers/bench/%s/versions" % name, {"versions": listing})
        url = "%s/%s" % (self.plain_url, base)
        for platform in platforms:
            system, architecture = platform.split("_")
            answer = {
                "protocols": ["5.0"], "os": system, "arch": architecture, "filename": self.file_name(name, platform),
                "download_url": url + self.file_name(name, platform), "shasums_url": url + "SHA256SUMS",
                "shasum": packages[platform]["hashes"][1][3:], "shasums_signature_url": url + "SHA256SUMS.sig",
                "signing_keys": {"gpg_public_keys": [{"ascii_armor": self.key.armored}]}}
            if with_packages:
                answer["packages"] = packages
            self.write("v1/providers/bench/%s/%s/download/%s/%s" % (name, VERSION, system, architecture), answer)

    @staticmethod
    def file_name(name, platform):
        return "terraform-provider-%s_%s_%s.zip" % (name, VERSION, platform)

    def take_requests(self):
        """Paths asked for since the last time, one each time."""
        try:
            with open(self.path("access.log")) as file:
                lines = file.read().splitlines()[self.counted:]
        except FileNotFoundError:
            lines = []
        self.counted += len(lines)
        return [line.split()[3] for line in lines]
