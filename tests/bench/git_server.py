"""Git over https and http on the loopback, behind a delay: nginx, fcgiwrap, git-http-backend, an authority of its own."""

import os
import shutil
import subprocess
import sys
import time

import processes

PROXY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support", "delay_proxy.py")
BACKEND = "/usr/lib/git-core/git-http-backend"

NGINX = """
daemon off;
master_process off;
pid {home}/nginx.pid;
error_log {home}/error.log warn;
events {{ worker_connections 512; }}
http {{
  log_format request '$connection $status $request_method $request_uri';
  access_log {home}/access.log request;
  client_body_temp_path {home}/body;
  fastcgi_temp_path {home}/fastcgi;
  proxy_temp_path {home}/proxy;
  scgi_temp_path {home}/scgi;
  uwsgi_temp_path {home}/uwsgi;
  client_max_body_size 0;
  include {home}/*.http;
  server {{
    listen unix:{home}/https.socket ssl{http2};
    listen unix:{home}/http.socket;
    ssl_protocols TLSv1.2 TLSv1.3;
    ssl_certificate {home}/server.pem;
    ssl_certificate_key {home}/server.key;
    location / {{
      fastcgi_pass unix:{home}/cgi.socket;
      include /etc/nginx/fastcgi_params;
      fastcgi_param SCRIPT_FILENAME {backend};
      fastcgi_param GIT_PROJECT_ROOT {repositories};
      fastcgi_param GIT_HTTP_EXPORT_ALL 1;
      fastcgi_param GIT_PROTOCOL $http_git_protocol;
      fastcgi_param PATH_INFO $uri;
    }}
    include {home}/*.locations;
  }}
}}
"""


def program(name):
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def missing_programs():
    names = [name for name in ("git", "nginx", "fcgiwrap", "openssl") if not program(name)]
    return names if os.access(BACKEND, os.X_OK) else names + ["git-http-backend"]


class GitServer:
    """Serves `repositories` (a directory that may be filled later) at `url`, with HTTP/2 if `http2`, and over http at
    `plain_url`. Use as a context manager."""

    def __init__(self, home, repositories, delay_ms, http2=False):
        os.makedirs(home)
        os.makedirs(repositories, exist_ok=True)
        self.home = home
        self.authority = os.path.join(home, "authority.pem")
        self.repositories = repositories
        self.delay_ms = delay_ms
        self.http2 = http2
        self.children = []
        self.counted = 0

    def __enter__(self):
        try:
            self.make_certificates()
            with open(self.path("nginx.conf"), "w") as file:
                file.write(NGINX.format(home=self.home, repositories=self.repositories, backend=BACKEND,
                                        http2=" http2" if self.http2 else ""))
            self.prepare()
            self.start([program("fcgiwrap"), "-c", "32", "-s", "unix:" + self.path("cgi.socket")])
            self.start([program("nginx"), "-e", self.path("error.log"), "-c", self.path("nginx.conf")])
            for socket in ("cgi.socket", "https.socket", "http.socket"):
                self.wait_for(self.path(socket))
            self.url = "https://localhost:%d" % self.start_proxy("https.socket")
            self.plain_url = "http://localhost:%d" % self.start_proxy("http.socket")
            return self
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_):
        for child in reversed(self.children):
            processes.end_group(child)

    def prepare(self):
        """For servers that serve more: before anything listens."""

    def start_proxy(self, socket):
        proxy = self.start([sys.executable, PROXY, "--to", "unix:" + self.path(socket), "--delay-ms",
                            str(self.delay_ms)], stdout=subprocess.PIPE)
        return int(proxy.stdout.readline())

    def path(self, name):
        return os.path.join(self.home, name)

    def start(self, command, **options):
        environment = {"PATH": os.environ["PATH"], "HOME": self.home, "GIT_CONFIG_NOSYSTEM": "1"}
        child = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, start_new_session=True, **options)
        self.children.append(child)
        return child

    def wait_for(self, path):
        give_up = time.monotonic() + 10
        while not os.path.exists(path):
            if time.monotonic() > give_up or any(child.poll() is not None for child in self.children):
                raise SystemExit("the git server did not start: no %s" % path)
            time.sleep(0.02)

    def make_certificates(self):
        def openssl(*arguments):
            subprocess.run(["openssl", *arguments], check=True, cwd=self.home, stderr=subprocess.DEVNULL)

        key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        openssl("req", "-x509", *key, "-keyout", "authority.key", "-out", "authority.pem", "-days", "2",
                "-subj", "/CN=Benchmark authority")
        openssl("req", *key, "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=localhost")
        with open(self.path("names"), "w") as file:
            file.write("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
        openssl("x509", "-req", "-in", "server.csr", "-CA", "authority.pem", "-CAkey", "authority.key",
                "-CAcreateserial", "-days", "2", "-extfile", "names", "-out", "server.pem")

    def take_counts(self):
        """(requests, connections) that the server has seen since it was last asked."""
        try:
            with open(self.path("access.log")) as file:
                lines = file.read().splitlines()[self.counted:]
        except FileNotFoundError:
            lines = []
        self.counted += len(lines)
        return len(lines), len({line.split()[0] for line in lines})
