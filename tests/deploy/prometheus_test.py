"""A real Prometheus with our configuration and rules scrapes a real server and answers every panel of the dashboard."""

import json
import pathlib
import shutil
import subprocess
import tempfile
import threading
import unittest
import urllib.parse

import yaml
from metrics_page import BINARIES, DEADLINE, DEPLOY, ServerProcess, get

# Panels that are empty unless something of the kind has happened.
MAY_BE_EMPTY = {"Starts"}


class Prometheus:
    """Prometheus with the files of deploy/prometheus, but for the target and a faster pace."""

    def __init__(self, admin_port):
        self._folder = tempfile.TemporaryDirectory()
        folder = pathlib.Path(self._folder.name)
        config = yaml.safe_load((DEPLOY / "prometheus/prometheus.yml").read_text())
        config["global"] = {"scrape_interval": "200ms", "scrape_timeout": "200ms", "evaluation_interval": "200ms"}
        config["scrape_configs"][0]["static_configs"][0]["targets"] = [f"127.0.0.1:{admin_port}"]
        (folder / "prometheus.yml").write_text(yaml.safe_dump(config))
        shutil.copy(DEPLOY / "prometheus/rules.yml", folder)
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
        self._reader = threading.Thread(target=self.process.stderr.read, daemon=True)
        self._reader.start()
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(DEADLINE)
        self._reader.join(DEADLINE)
        self.process.stderr.close()
        self._folder.cleanup()

    def ask(self, path, **arguments):
        answer = json.loads(get(f"http://{self.address}/api/v1/{path}?" + urllib.parse.urlencode(arguments)))
        assert answer["status"] == "success", answer
        return answer["data"]

    def wait_for(self, expression):
        """The expression's result, once it has one."""
        pause = threading.Event()
        for _ in range(DEADLINE * 10):
            if result := self.ask("query", query=expression)["result"]:
                return result
            pause.wait(0.1)
        raise AssertionError(f"Prometheus never found {expression}")


class PrometheusTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(ServerProcess())
        cls.prometheus = cls.enterClassContext(Prometheus(cls.server.admin_port))
        cls.prometheus.wait_for("posenc_ready")
        subprocess.run([BINARIES / "posenc", "alibi", "--heads", "12", "--q", "19:20", "--k", "0:20", "--server",
                        f"127.0.0.1:{cls.server.port}"], check=True, stdout=subprocess.DEVNULL, timeout=DEADLINE)
        cls.prometheus.wait_for('rate(grpc_server_handled_total{grpc_code="OK"}[1m]) > 0')

    def test_configuration_is_accepted(self):
        done = subprocess.run(["promtool", "check", "config", DEPLOY / "prometheus/prometheus.yml"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_rules_evaluate_and_none_fires_on_a_healthy_server(self):
        self.prometheus.wait_for("posenc:cache_unevictable:ratio")
        rules = [rule for group in self.prometheus.ask("rules")["groups"] for rule in group["rules"]]
        self.assertGreater(len(rules), 25)
        for rule in rules:
            with self.subTest(rule=rule["name"]):
                self.assertEqual((rule["health"], rule.get("lastError")), ("ok", None))
                self.assertIn(rule.get("state", "inactive"), ("inactive", "pending"))

    def test_every_panel_has_an_answer(self):
        dashboard = json.loads((DEPLOY / "grafana/dashboard.json").read_text())
        asked = [(panel["title"], target["expr"]) for panel in dashboard["panels"]
                 for target in panel.get("targets", ())]
        asked += [(note["name"], note["expr"]) for note in dashboard["annotations"]["list"]]
        for title, expression in asked:
            for variable in ("namespace", "job", "instance", "method"):
                expression = expression.replace(f'"${variable}"', '".*"')
            expression = expression.replace("$__rate_interval", "1m").replace("$__interval", "1m")
            with self.subTest(panel=title):
                result = self.prometheus.ask("query", query=expression)["result"]
                if title not in MAY_BE_EMPTY:
                    self.assertTrue(result, expression)


if __name__ == "__main__":
    unittest.main()
