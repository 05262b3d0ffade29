"""Servers on the loopback under the names of public hosts: git over https, module registries, archives, OCI registries.

A proxy connects every host name to one https server, so programs run with the addresses that the pages show.
"""
import base64
import hashlib
import http.client
import http.server
import io
import json
import os
import shutil
import socket
import socketserver
import ssl
import subprocess
import tarfile
import threading
import time
import urllib.parse
import zipfile
from pathlib import Path

PASSWORD = "loopback-secret"  # every host accepts only this password or token

# The user names that each host accepts for git, None for any. A host that is missing here needs no credentials.
GIT_USERS = {
    "github.com": {"x-access-token"},
    "gitlab.com": {"gitlab-ci-token"},
    "dev.azure.com": None,
    "bitbucket.org": {"x-token-auth"},
    "forgejo.example.com": None,
}
TOKEN_REALMS = {"ghcr.io": "/token", "harbor.example.com": "/service/token"}
REGISTRY_HOSTS = {"app.terraform.io", "gitlab.com", "example.jfrog.io"}  # with a bearer token
INSIDE_HOSTS = {"git.corp.example", "registry.corp.example", "oci.corp.example"}  # a restricted network reaches only these
OPEN_HOSTS = {"git.example.test", "registry.example.test", "registry.opentofu.org", "registry.terraform.io"} | INSIDE_HOSTS
OCI_HOSTS = {"ghcr.io", "harbor.example.com", "example.jfrog.io", "forgejo.example.com",
             "123456789012.dkr.ecr.eu-west-1.amazonaws.com"}
HOSTS = sorted(set(GIT_USERS) | set(TOKEN_REALMS) | REGISTRY_HOSTS | OPEN_HOSTS | OCI_HOSTS)


def basic(header):
    """(user, password) of an Authorization header, else None."""
    scheme, _, rest = (header or "").partition(" ")
    if scheme.lower() != "basic":
        return None
    user, _, password = base64.b64decode(rest).decode().partition(":")
    return user, password


def tar_gz(files):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text))
    return data.getvalue()


class Handler(http.server.BaseHTTPRequestHandler):
    """The host name of the request selects the service."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.answer()

    do_HEAD = do_POST = do_PUT = do_PATCH = do_GET

    def send(self, status, body=b"", kind="application/json", **headers):
        body = json.dumps(body).encode() if isinstance(body, (dict, list)) else body
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def answer(self):
        host = self.headers.get("Host", "").partition(":")[0]
        path = urllib.parse.unquote(urllib.parse.urlsplit(self.path).path)
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length) if length else self.read_chunks()
        if path.startswith("/v2/") or path == TOKEN_REALMS.get(host):
            self.answer_oci(host, path, body)
        elif path == "/.well-known/terraform.json":
            registry = host in REGISTRY_HOSTS or "registry" in host
            self.send(200, {"modules.v1": "/v1/modules/"}) if registry else self.send(404)
        elif path.startswith("/v1/modules/"):
            self.answer_module(host, path[len("/v1/modules/"):].split("/"))
        elif path.startswith("/archives/"):
            given = basic(self.headers.get("Authorization"))
            if given and given[1] == PASSWORD:
                self.send(200, tar_gz({"main.tf": b'output "cidr" {\n  value = "10.0.0.0/8"\n}\n'}), "application/gzip")
            else:
                self.send(401, WWW_Authenticate='Basic realm="archives"')
        else:
            self.answer_git(host, path, body)

    def read_chunks(self):
        body = b""
        while self.headers.get("Transfer-Encoding") == "chunked":
            size = int(self.rfile.readline(), 16)
            body += self.rfile.read(size)
            self.rfile.readline()
            if size == 0:
                break
        return body

    def answer_module(self, host, parts):
        if host in REGISTRY_HOSTS and self.headers.get("Authorization") != f"Bearer {PASSWORD}":
            self.send(401, {"errors": ["unauthorized"]})
        elif parts[-1] == "versions":
            self.send(200, {"modules": [{"versions": [{"version": version} for version in ("1.0.0", "1.1.0", "2.0.0")]}]})
        elif parts[-1] == "download":
            # The archive has no credentials of its own: the host of the registry gave its address.
            self.send(204, X_Terraform_Get=f"https://{host}/v1/modules/{'/'.join(parts[:-1])}/module?archive=tar.gz")
        else:
            text = f'output "version" {{\n  value = "{parts[-2]}"\n}}\n'
            self.send(200, tar_gz({"main.tf": text.encode()}), "application/gzip")

    def answer_oci(self, host, path, body):
        given = basic(self.headers.get("Authorization"))
        if path == TOKEN_REALMS.get(host):
            if given and given[1] == PASSWORD:
                self.send(200, {"token": f"opaque-{host}"})
            else:
                self.send(401, {"errors": [{"code": "UNAUTHORIZED"}]})
            return
        authorization = self.headers.get("Authorization")
        if host in TOKEN_REALMS:
            if authorization != f"Bearer opaque-{host}":
                self.send(401, {"errors": [{"code": "UNAUTHORIZED"}]}, WWW_Authenticate=(
                    f'Bearer realm="https://{host}{TOKEN_REALMS[host]}",service="{host}",scope="repository:x:pull"'))
                return
            authorization = "Basic " + base64.b64encode(f"AWS:{PASSWORD}".encode()).decode()
        upstream = http.client.HTTPConnection("127.0.0.1", self.server.oci_port)
        headers = {"Host": host, "X-Forwarded-Proto": "https"} | {
            name: value for name in ("Accept", "Content-Type", "Content-Range") if (value := self.headers.get(name))}
        upstream.request(self.command, self.path, body or None, headers | (
            {"Authorization": authorization} if authorization else {}))
        response = upstream.getresponse()
        body = response.read()
        upstream.close()
        kept = {name: value for name, value in response.getheaders()
                if name.lower() in ("www-authenticate", "docker-content-digest", "docker-upload-uuid", "location", "range")}
        self.send(response.status, body, response.getheader("Content-Type", ""), **kept)

    def answer_git(self, host, path, body):
        authorization = self.headers.get("Authorization")
        if host in GIT_USERS:
            given = basic(authorization)
            users = GIT_USERS[host]
            allowed = given and given[1] == PASSWORD and (users is None or given[0] in users)
            if not allowed and authorization != f"Bearer {PASSWORD}":
                self.send(401, WWW_Authenticate=f'Basic realm="{host}"')
                return
        environment = os.environ | {
            "GIT_PROJECT_ROOT": str(self.server.repositories[self.client_address[1]]), "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": "/" + path.strip("/").removeprefix("acme/infra/_git/").removeprefix("acme/"),
            "QUERY_STRING": urllib.parse.urlsplit(self.path).query, "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""), "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""), "REMOTE_ADDR": "127.0.0.1"}
        ran = subprocess.run(["git", "http-backend"], input=body, env=environment, capture_output=True, check=False)
        head, _, rest = ran.stdout.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().splitlines())
        self.send(int(fields.pop("Status", "200").split()[0]), rest, fields.pop("Content-Type", "text/plain"), **fields)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, context):
        super().__init__(("127.0.0.1", 0), Handler)
        self.context = context
        self.repositories = {}  # port of a client -> the directory of its git repositories
        self.oci_port = 0

    def finish_request(self, request, client_address):
        with self.context.wrap_socket(request, server_side=True) as connection:
            self.RequestHandlerClass(connection, client_address, self)

    def handle_error(self, *_):  # a client that ends a connection early
        pass


class Tunnel(socketserver.BaseRequestHandler):
    """One CONNECT of the proxy: each of its hosts is the https server, every other is refused."""

    def handle(self):
        head = b""
        while b"\r\n\r\n" not in head:
            data = self.request.recv(4096)
            if not data:
                return
            head += data
        method, target, _ = head.decode().split(" ", 2)
        host = target.partition(":")[0]
        if method != "CONNECT" or host not in self.server.hosts:
            self.request.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
            return
        with socket.create_connection(self.server.upstream.server_address) as upstream:
            self.server.upstream.repositories[upstream.getsockname()[1]] = self.server.repositories
            self.request.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            back = threading.Thread(target=self.copy, args=(upstream, self.request), daemon=True)
            back.start()
            self.copy(self.request, upstream)
            back.join()

    @staticmethod
    def copy(source, target):
        try:
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass


class Proxy(socketserver.ThreadingTCPServer):
    """Serves the git repositories of one directory."""

    daemon_threads = True

    def __init__(self, upstream, repositories, hosts):
        super().__init__(("127.0.0.1", 0), Tunnel)
        self.upstream = upstream
        self.repositories = repositories
        self.hosts = hosts


class Servers:
    """All servers, and the variables with which programs use them."""

    def __init__(self, directory):
        self.directory = Path(directory)
        self.directory.mkdir(parents=True)
        self.make_certificates()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.directory / "server.pem", self.directory / "server.key")
        self.server = Server(context)
        self.running = []
        self.start(self.server)
        self.registry = None
        self.has_oci = bool(shutil.which("docker-registry") and shutil.which("htpasswd"))
        if self.has_oci:
            self.start_registry()

    def start(self, server):
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        self.running.append(server)

    def environment(self, repositories):
        """The variables for a program that sees these repositories."""
        address, inside = (self.start_proxy(repositories, hosts) for hosts in (HOSTS, INSIDE_HOSTS))
        authority = str(self.directory / "authority.pem")
        return {"HTTPS_PROXY": address, "https_proxy": address, "SSL_CERT_FILE": authority, "GIT_SSL_CAINFO": authority,
                "INSIDE_PROXY": inside}

    def start_proxy(self, repositories, hosts):
        proxy = Proxy(self.server, repositories, hosts)
        self.start(proxy)
        return f"http://127.0.0.1:{proxy.server_address[1]}"

    def stop(self):
        for server in self.running:
            server.shutdown()
            server.server_close()
        if self.registry:
            self.registry.kill()
            self.registry.wait()

    def make_certificates(self):
        def openssl(*arguments):
            subprocess.run(["openssl", *arguments], cwd=self.directory, check=True, capture_output=True)

        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", "/CN=tests", "-keyout", "authority.key", "-out", "authority.pem")
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=server",
                "-keyout", "server.key", "-out", "server.csr")
        names = ",".join(f"DNS:{host}" for host in HOSTS)
        (self.directory / "names").write_text(f"subjectAltName={names}\n")
        openssl("x509", "-req", "-in", "server.csr", "-CA", "authority.pem", "-CAkey", "authority.key", "-days", "2",
                "-CAcreateserial", "-extfile", "names", "-out", "server.pem")

    def start_registry(self):
        users = ("AWS", "reader", "robot$ci")
        passwords = "".join(
            subprocess.run(["htpasswd", "-niB", "-C", "4", user], input=PASSWORD, check=True, capture_output=True,
                           text=True).stdout for user in users)
        (self.directory / "passwords").write_text(passwords)
        for _ in range(5):  # another process may take the free port first
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                port = probe.getsockname()[1]
            (self.directory / "registry.yml").write_text(json.dumps({
                "version": "0.1", "log": {"level": "warn", "accesslog": {"disabled": True}},
                "storage": {"filesystem": {"rootdirectory": str(self.directory / "registry")}},
                "auth": {"htpasswd": {"realm": "tests", "path": str(self.directory / "passwords")}},
                "http": {"addr": f"127.0.0.1:{port}", "secret": "tests"}}))
            with open(self.directory / "registry.log", "wb") as log:
                self.registry = subprocess.Popen(["docker-registry", "serve", str(self.directory / "registry.yml")],
                                                 stdout=log, stderr=log)
            deadline = time.monotonic() + 10
            while self.registry.poll() is None and time.monotonic() < deadline:
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        self.server.oci_port = port
                        return
                time.sleep(0.01)
            self.registry.kill()
            self.registry.wait()
        raise RuntimeError("docker-registry does not start: " + (self.directory / "registry.log").read_text())

    def push_oci(self, repository, tag, files):
        """Publishes a module package as OpenTofu expects it."""
        authorization = {"Authorization": "Basic " + base64.b64encode(f"AWS:{PASSWORD}".encode()).decode()}

        def send(method, path, body=b"", kind="application/octet-stream"):
            connection = http.client.HTTPConnection("127.0.0.1", self.server.oci_port)
            connection.request(method, path, body, authorization | {"Content-Type": kind})
            response = connection.getresponse()
            response.read()
            connection.close()
            if response.status not in (201, 202):
                raise RuntimeError(f"{method} {path}: {response.status}")
            return response.getheader("Location")

        def push(blob):
            digest = "sha256:" + hashlib.sha256(blob).hexdigest()
            location = urllib.parse.urlsplit(send("POST", f"/v2/{repository}/blobs/uploads/"))
            send("PUT", f"{location.path}?{location.query}&digest={digest}", blob)
            return {"digest": digest, "size": len(blob)}

        data = io.BytesIO()
        with zipfile.ZipFile(data, "w") as archive:
            for name, text in files.items():
                archive.writestr(zipfile.ZipInfo(name), text)
        kind = "application/vnd.oci.image.manifest.v1+json"
        send("PUT", f"/v2/{repository}/manifests/{tag}", json.dumps({
            "schemaVersion": 2, "mediaType": kind, "artifactType": "application/vnd.opentofu.modulepkg",
            "config": push(b"{}") | {"mediaType": "application/vnd.oci.empty.v1+json"},
            "layers": [push(data.getvalue()) | {"mediaType": "archive/zip"}]}).encode(), kind)
