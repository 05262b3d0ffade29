"""A git server that is a module registry, an archive server and an OCI registry too, behind one nginx and one log."""

import hashlib
import http.client
import json
import os
import socket

from git_server import GitServer, program

# The last part of a registry module's address says what its download leads to.
LOCATIONS = """
location /.well-known/ {{ root {home}/static; default_type application/json; }}
location /v1/modules/ {{ root {home}/static; default_type application/json; }}
location /archives/ {{ root {home}/static; }}
location ~ ^/v1/modules/bench/(?<module>[^/]+)/git/(?<release>[^/]+)/download$ {{
  add_header X-Terraform-Get "git::https://$http_host/{git}/$module.git?ref=v$release";
  return 204;
}}
location ~ ^/v1/modules/bench/(?<module>[^/]+)/archive/(?<release>[^/]+)/download$ {{
  add_header X-Terraform-Get "/archives/$module-$release.tar.gz";
  return 204;
}}
location /v2/ {{
  proxy_pass http://unix:{home}/oci.socket:;
  proxy_http_version 1.1;
  proxy_set_header Host $http_host;
  proxy_set_header X-Forwarded-Proto https;
}}
"""
OCI = """
version: 0.1
log: {{level: error, accesslog: {{disabled: true}}}}
storage: {{filesystem: {{rootdirectory: {home}/oci}}}}
http: {{net: unix, addr: {home}/oci.socket, secret: bench}}
"""
MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json"
EMPTY = b"{}"


def missing_programs():
    return [name for name in ("docker-registry",) if not program(name)]


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost")
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


class SourceServer(GitServer):
    """Registry, archives and OCI registry have origins of their own: `registry`, `oci` (host:port), `plain_url`."""

    def prepare(self):
        with open(self.path("sources.locations"), "w") as file:
            file.write(LOCATIONS.format(home=self.home, git="mixed"))
        with open(self.path("oci.yml"), "w") as file:
            file.write(OCI.format(home=self.home))
        self.publish(".well-known/terraform.json", json.dumps({"modules.v1": "/v1/modules/"}).encode())
        # It logs each blob that a push asks for and that is not there yet.
        self.start(["sh", "-c", 'exec "$0" serve "$1" >"$1.log" 2>&1', program("docker-registry"), self.path("oci.yml")])
        self.wait_for(self.path("oci.socket"))

    def __enter__(self):
        super().__enter__()
        self.registry = "127.0.0.1:%d" % self.start_proxy("https.socket")
        self.oci = "127.0.0.1:%d" % self.start_proxy("https.socket")
        return self

    def publish(self, path, content):
        path = os.path.join(self.home, "static", path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)

    def publish_versions(self, module, packaging, versions):
        listing = {"modules": [{"versions": [{"version": version} for version in versions]}]}
        self.publish("v1/modules/bench/%s/%s/versions" % (module, packaging), json.dumps(listing).encode())

    def push(self, repository, tags, package):
        """Makes a module package (the bytes of a zip) out of `package` under all `tags`."""
        connection = UnixConnection(self.path("oci.socket"))

        def send(method, url, status, body=None, headers=None):
            connection.request(method, url, body, headers or {})
            response = connection.getresponse()
            text = response.read()
            if response.status != status:
                raise SystemExit("docker-registry: %s %s: %d %s" % (method, url, response.status, text))
            return response

        def layer(content, kind):
            digest = "sha256:" + hashlib.sha256(content).hexdigest()
            place = send("POST", "/v2/%s/blobs/uploads/" % repository, 202).headers["Location"]
            place = place[place.index("/v2/"):]
            send("PUT", "%s%sdigest=%s" % (place, "&" if "?" in place else "?", digest), 201, content,
                 {"Content-Type": "application/octet-stream"})
            return {"mediaType": kind, "digest": digest, "size": len(content)}

        manifest = json.dumps({
            "schemaVersion": 2, "mediaType": MANIFEST_TYPE, "artifactType": "application/vnd.opentofu.modulepkg",
            "config": layer(EMPTY, "application/vnd.oci.empty.v1+json"), "layers": [layer(package, "archive/zip")]})
        for tag in tags:
            send("PUT", "/v2/%s/manifests/%s" % (repository, tag), 201, manifest, {"Content-Type": MANIFEST_TYPE})
        connection.close()
