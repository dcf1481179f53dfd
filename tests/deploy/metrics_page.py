"""A real posenc-server's /metrics page, and whether a PromQL expression finds on it what it asks for."""

import os
import pathlib
import re
import subprocess
import tempfile
import threading
import urllib.request

BINARIES = pathlib.Path(os.environ["POSENC_BINARY_DIR"])
SOURCES = pathlib.Path(os.environ["POSENC_SOURCE_DIR"])
DEPLOY = SOURCES / "deploy"
DEADLINE = 60

# What Prometheus itself adds to a page.
TARGET_LABELS = {"namespace", "job", "instance", "pod"}
SERIES_OF_PROMETHEUS = {"up"}
_NAME = r"(?<![:\w])((?:posenc|grpc_server|process)_[a-z0-9_]+|up)\b"


def get(url):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(url, timeout=DEADLINE) as answer:
        return answer.read().decode()


class ServerProcess:
    """posenc-server on free ports of the loopback interface; ends with the context."""

    def __init__(self, *flags, program=BINARIES / "posenc-server"):
        self._folder = tempfile.TemporaryDirectory()
        folder = pathlib.Path(self._folder.name)
        self._port, self._admin_port = folder / "port", folder / "admin-port"
        self.process = subprocess.Popen(
            [program, "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--log-format", "text", "--port-file",
             self._port, "--admin-port-file", self._admin_port, *flags],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def __enter__(self):
        self._reader, lines = None, []
        for line in self.process.stderr:
            lines.append(line)
            if " info ready" in line:
                break
        else:
            self.__exit__()
            raise AssertionError("the server did not start:\n" + "".join(lines))
        # What it says from now on is read and forgotten, or it would stand still.
        self._reader = threading.Thread(target=self.process.stderr.read, daemon=True)
        self._reader.start()
        self.port, self.admin_port = int(self._port.read_text()), int(self._admin_port.read_text())
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait(DEADLINE)
        if self._reader:
            self._reader.join(DEADLINE)
        self.process.stderr.close()
        self._folder.cleanup()

    def admin(self, path):
        return get(f"http://127.0.0.1:{self.admin_port}{path}")


class MetricsPage:
    """The samples of a page: label sets by name."""

    def __init__(self, text):
        self.samples = {}
        for line in text.splitlines():
            match = re.match(r"([a-zA-Z_:][\w:]*)(?:\{(.*)\})? ", line)
            if match and not line.startswith("#"):
                labels = dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', match[2] or ""))
                self.samples.setdefault(match[1], []).append(labels)

    def missing(self, expression):
        """What the expression asks for and the page has not: one text for each name, label or value."""
        for match in re.finditer(_NAME + r"(?:\{([^}]*)\})?", expression):
            name, selector = match[1], match[2] or ""
            if name in SERIES_OF_PROMETHEUS:
                continue
            if name not in self.samples:
                yield f"no series {name}"
                continue
            for label, operator, value in re.findall(r'(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"', selector):
                if label in TARGET_LABELS or value.startswith("$"):
                    continue
                here = {labels[label] for labels in self.samples[name] if label in labels}
                alternatives = value.split("|") if operator in ("=~", "!~") else [value]
                if not here:
                    yield f"{name} has no label {label}"
                for alternative in alternatives if here else ():
                    if not any(re.fullmatch(alternative, one) for one in here):
                        yield f"{name} has no {label} like {alternative}; it has {sorted(here)}"
        labels = {label for samples in self.samples.values() for sample in samples for label in sample}
        for group in re.findall(r"\b(?:by|without|on|ignoring)\s*\(([^)]*)\)", expression):
            for label in filter(None, re.split(r"[\s,]+", group)):
                if label not in labels | TARGET_LABELS | {"le"}:
                    yield f"no series has a label {label}"
