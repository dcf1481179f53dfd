"""A real Prometheus scrapes the server and answers queries about it; promtool accepts the page."""

import json
import pathlib
import shutil
import subprocess
import tempfile
import threading
import unittest
import urllib.parse
import urllib.request

from harness import DEADLINE, ServerTest
from posenc.v1 import positional_encoding_service_pb2 as service
from posenc.v1 import rope_spec_pb2, spec_pb2

CONFIG = """
global: {{scrape_interval: 200ms, scrape_timeout: 200ms}}
scrape_configs:
  - job_name: posenc
    static_configs: [{{targets: ["127.0.0.1:{port}"]}}]
"""


def open_url(url):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(url, timeout=DEADLINE) as answer:
        return answer.read().decode()


class Prometheus:
    """Prometheus in a folder of its own, on a port that it chose."""

    def __init__(self, admin_port):
        self._folder = tempfile.TemporaryDirectory()
        folder = pathlib.Path(self._folder.name)
        (folder / "prometheus.yml").write_text(CONFIG.format(port=admin_port))
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
             "--web.listen-address=127.0.0.1:0", "--log.format=json"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def __enter__(self):
        for line in self.process.stderr:
            entry = json.loads(line)
            if entry.get("msg") == "Listening on":
                self.address = entry["address"]
            if "ready to receive" in entry.get("msg", ""):
                break
        # What it says from now on is read and forgotten, or it would stand still.
        threading.Thread(target=self.process.stderr.read, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(DEADLINE)
        self._folder.cleanup()

    def query(self, expression):
        url = f"http://{self.address}/api/v1/query?" + urllib.parse.urlencode({"query": expression})
        return json.loads(open_url(url))["data"]["result"]


class PrometheusTest(ServerTest):
    def page(self):
        return open_url(f"http://127.0.0.1:{self.server.admin_port}/metrics")

    def ask_for_a_table(self):
        spec = spec_pb2.TableSpec(rope=rope_spec_pb2.RopeSpec(head_dim=64, max_len=1000))
        self.tables.GetSlice(service.GetSliceRequest(spec=spec), timeout=DEADLINE)

    def test_promtool_accepts_the_page(self):
        check = subprocess.run(["promtool", "check", "metrics"], input=self.page(), text=True,
                               capture_output=True)
        self.assertEqual((check.returncode, check.stderr), (0, ""))

    def test_expected_families_are_there_from_the_start(self):
        page = self.page()
        for name in ("grpc_server_started_total", "grpc_server_handled_total",
                     "grpc_server_handling_seconds_bucket", "grpc_server_msg_sent_total",
                     "posenc_cache_requests_total", "posenc_cache_size_bytes", "posenc_cache_limit_bytes",
                     "posenc_cache_evictions_total", "posenc_blocks_generated_total", "posenc_ready",
                     "posenc_build_info", "process_resident_memory_bytes", "process_cpu_seconds_total"):
            self.assertIn("\n" + name, page, name)

    @unittest.skipUnless(shutil.which("prometheus"), "prometheus is not installed")
    def test_prometheus_answers_a_query(self):
        self.ask_for_a_table()
        self.ask_for_a_table()
        pause = threading.Event()
        with Prometheus(self.server.admin_port) as prometheus:
            for _ in range(DEADLINE * 10):
                result = prometheus.query("sum by (result) (posenc_cache_requests_total)")
                if result:
                    break
                pause.wait(0.1)
            values = {entry["metric"]["result"]: float(entry["value"][1]) for entry in result}
            self.assertGreaterEqual(values["hit"], 1)
            self.assertGreaterEqual(values["miss"], 1)
            self.assertEqual(prometheus.query("up")[0]["value"][1], "1")


if __name__ == "__main__":
    unittest.main()
