"""The dashboard asks for series that a real server has, in PromQL that Prometheus reads, and leaves no metric out."""

import json
import re
import subprocess
import tempfile
import unittest

import yaml
from metrics_page import DEPLOY, MetricsPage, ServerProcess

# What Grafana puts in for its own variables.
GRAFANA_TIMES = {"$__rate_interval": "5m", "$__interval": "1m"}


class DashboardTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dashboard = json.loads((DEPLOY / "grafana/dashboard.json").read_text())
        cls.panels = [panel for panel in cls.dashboard["panels"] if panel["type"] != "row"]
        expressions = [(panel["title"], target["expr"]) for panel in cls.panels for target in panel["targets"]]
        expressions += [(note["name"], note["expr"]) for note in cls.dashboard["annotations"]["list"]]
        cls.expressions = []
        for title, text in expressions:
            for variable, time in GRAFANA_TIMES.items():
                text = text.replace(variable, time)
            cls.expressions.append((title, text))
        with ServerProcess() as server:
            cls.page = MetricsPage(server.admin("/metrics"))

    def test_every_series_label_and_value_is_on_the_page_of_a_real_server(self):
        self.assertGreater(len(self.expressions), 30)
        for title, expression in self.expressions:
            with self.subTest(panel=title):
                self.assertRegex(expression, r"[a-z]+_[a-z]+")
                self.assertEqual(list(self.page.missing(expression)), [])

    def test_prometheus_reads_every_expression(self):
        rules = [{"record": f"panel_{number}", "expr": expression}
                 for number, (_, expression) in enumerate(self.expressions)]
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
            yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]}, file)
            file.flush()
            done = subprocess.run(["promtool", "check", "rules", file.name], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_every_metric_of_the_server_is_shown(self):
        text = "\n".join(expression for _, expression in self.expressions)
        shown = set(re.findall(r"\w+", text))
        # A histogram is shown by its buckets; how many calls have begun is told by those that ended and those under way.
        hidden = {name for name in self.page.samples
                  if name not in shown and re.sub("_(count|sum)$", "_bucket", name) not in shown}
        self.assertEqual(hidden, {"grpc_server_started_total"})

    def test_variables_are_those_that_the_expressions_use(self):
        defined = {entry["name"] for entry in self.dashboard["templating"]["list"]} - {"datasource"}
        used = {name for _, text in self.expressions for name in re.findall(r"\$(\w+)", text)}
        self.assertEqual(used, defined)
        for entry in self.dashboard["templating"]["list"]:
            if entry["type"] == "query":
                name, label = re.match(r"label_values\((\w+).*, (\w+)\)", entry["query"]["query"]).groups()
                self.assertIn(name, self.page.samples)
                if label not in ("namespace", "job", "instance"):
                    self.assertIn(label, self.page.samples[name][0])

    def test_panels_have_ids_of_their_own_and_do_not_overlap(self):
        taken, ids = set(), set()
        for panel in self.dashboard["panels"]:
            self.assertNotIn(panel["id"], ids)
            ids.add(panel["id"])
            at = panel["gridPos"]
            self.assertLessEqual(at["x"] + at["w"], 24, panel["title"])
            cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
            self.assertFalse(cells & taken, panel["title"])
            taken |= cells


if __name__ == "__main__":
    unittest.main()
