"""A host of `serve`, as simple as one can be."""

import json
import subprocess


class Session:
    """One `serve`, ready for requests."""

    def __init__(self, modlock, environment, options):
        self.process = subprocess.Popen([modlock, "serve"], env=environment, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                        start_new_session=True)
        self.send("initialize", {"protocolVersions": ["1.0"], "clientInfo": {"name": "bench", "version": "1"},
                                 "capabilities": {"editForms": ["fullText"]}, "options": options}, 0)
        self.answer()
        self.send("initialized")

    def send(self, method, params=None, number=None):
        message = {"jsonrpc": "2.0", "method": method}
        message.update({"params": params} if params is not None else {})
        message.update({"id": number} if number is not None else {})
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def answer(self):
        """The next result, whichever request it answers."""
        while True:
            message = json.loads(self.process.stdout.readline())
            if "error" in message:
                raise SystemExit("a request failed: %s" % message["error"])
            if "result" in message:
                return message["result"]
