"""A release on the loopback, with the addresses that a code host gives it, and the machine of a user who installs it."""

import functools
import gzip
import hashlib
import http.server
import io
import os
import pathlib
import shutil
import ssl
import subprocess
import tarfile
import tempfile
import threading

PROJECT = pathlib.Path(__file__).resolve().parents[2]
INSTALL = PROJECT / "scripts/install.sh"
REPOSITORY = "https://git.example.test/acme/tofu-modlock"
MACHINE = {"arm64": "aarch64"}.get(os.uname().machine, os.uname().machine)

# All programs that install.sh may run, with the one that downloads.
TOOLS = ["cat", "dirname", "find", "gzip", "ln", "mkdir", "mktemp", "mv", "readlink", "rm", "rmdir", "sha256sum", "tar", "uname"]

# What install.sh links below share/, besides the program.
PAGES = ["man/man1/tofu-modlock.1", "bash-completion/completions/tofu-modlock", "zsh/site-functions/_tofu-modlock",
         "fish/vendor_completions.d/tofu-modlock.fish"]


def tarball_name(version, machine=MACHINE):
    return f"tofu-modlock-{version}-linux-{machine}.tar.gz"


def make_tarball(version, program=None):
    """The bytes of a tarball with the shell script as the program; by default one that prints its version."""
    program = program or f"#!/bin/sh\necho {version}\n"
    tree = tarball_name(version).removesuffix(".tar.gz")
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, mode, content in (("bin/tofu-modlock", 0o755, program), ("lib/tofu-modlock/library", 0o644, "bytes"),
                                    *((f"share/{page}", 0o644, f"# {page} of {version}\n") for page in PAGES)):
            entry = tarfile.TarInfo(f"{tree}/{name}")
            entry.mode, entry.size = mode, len(content)
            archive.addfile(entry, io.BytesIO(content.encode()))
    return gzip.compress(packed.getvalue(), mtime=0)


def checksums(files):
    return "".join(f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in sorted(files.items())).encode()


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        self.server.requests.append(self.path)

    def do_GET(self):
        if self.path in self.server.redirects:
            self.send_response(302)
            self.send_header("Location", self.server.redirects[self.path])
            self.end_headers()
            return
        short = self.server.broken.get(self.path)
        if short is None:
            super().do_GET()
            return
        content = pathlib.Path(self.translate_path(self.path)).read_bytes()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[:short])
        self.close_connection = True


class Releases:
    """`address` has download/vVERSION/FILE and latest/download/FILE. `broken` maps paths to the length at which their
    response ends early, `redirects` to addresses. With TLS, only programs that read `certificate` trust the server."""

    def __init__(self, tls=False):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="modlock-releases-"))
        self.server = http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), functools.partial(Handler, directory=str(self.directory)))
        self.server.daemon_threads = True
        self.requests = self.server.requests = []
        self.broken = self.server.broken = {}
        self.redirects = self.server.redirects = {}
        self.address = f"http{'s' if tls else ''}://127.0.0.1:{self.server.server_port}"
        if tls:
            self.certificate, key = self.directory / "certificate", self.directory / "key"
            subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=127.0.0.1", "-addext",
                            "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", self.certificate], check=True, capture_output=True)
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self.certificate, key)
            context.set_ciphers("ALL:@SECLEVEL=0")  # for busybox
            context.maximum_version = ssl.TLSVersion.TLSv1_2
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def publish(self, version, program=None):
        """Publishes the release, which becomes the newest."""
        files = {tarball_name(version): make_tarball(version, program),
                 tarball_name(version, "other"): b"of another machine",
                 f"tofu-modlock-{version}-image-amd64.oci.tar": b"image"}
        files["SHA256SUMS"] = checksums(files)
        for place in (f"download/v{version}", "latest/download"):
            directory = self.directory / place
            shutil.rmtree(directory, ignore_errors=True)
            directory.mkdir(parents=True)
            for name, content in files.items():
                (directory / name).write_bytes(content)

    def file(self, version, name=None):
        return self.directory / f"download/v{version}" / (name or tarball_name(version))

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
        shutil.rmtree(self.directory)


class Machine:
    """A home, and a PATH that has only what install.sh needs."""

    def __init__(self, releases, downloader="curl"):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="modlock-machine-"))
        self.directory.chmod(0o755)
        self.home = self.directory / "home"
        self.tools = self.directory / "tools"
        self.home.mkdir()
        self.tools.mkdir()
        for tool in [*TOOLS, *([downloader] if downloader else [])]:
            (self.tools / tool).symlink_to(shutil.which(tool))
        self.environment = {"HOME": str(self.home), "PATH": str(self.tools), "TMPDIR": str(self.directory), "LC_ALL": "C.UTF-8",
                            "TOFU_MODLOCK_RELEASES": releases.address}
        self.program = self.home / ".local/bin/tofu-modlock"

    def tool(self, name, script):
        path = self.tools / name
        path.unlink(missing_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def install(self, *arguments, shell=("sh",), script=INSTALL, **options):
        command = [shutil.which(shell[0]), *shell[1:], str(script), *arguments]
        return subprocess.run(command, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False, cwd=self.directory, **options)

    def files(self):
        """Each path below the home and the temporary directory, with its content or target."""
        found = {}
        for path in sorted(self.directory.rglob("*")):
            name = str(path.relative_to(self.directory))
            if path.is_symlink():
                found[name] = os.readlink(path)
            else:
                found[name] = path.read_bytes() if path.is_file() else "directory"
        return found

    def versions(self):
        share = self.home / ".local/share/tofu-modlock"
        return sorted(path.name for path in share.iterdir()) if share.exists() else []

    def remove(self):
        shutil.rmtree(self.directory)
