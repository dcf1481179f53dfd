"""The rules are well formed, fire on what they are for, ask for series that exist, and stand in the runbook."""

import re
import subprocess
import unittest

import yaml
from metrics_page import DEPLOY, SOURCES, MetricsPage, ServerProcess

RULES = DEPLOY / "prometheus/rules.yml"
CASES = SOURCES / "tests/deploy/rules_cases.yml"


class RulesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        groups = yaml.safe_load(RULES.read_text())["groups"]
        cls.rules = [rule for group in groups for rule in group["rules"]]
        cls.alerts = {rule["alert"]: rule for rule in cls.rules if "alert" in rule}

    def promtool(self, *arguments):
        done = subprocess.run(["promtool", *arguments], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_promtool_accepts_the_rules(self):
        self.promtool("check", "rules", RULES)

    def test_cases_come_out_as_written(self):
        self.promtool("test", "rules", CASES)

    def test_every_alert_has_a_case_in_which_it_fires_and_one_in_which_it_does_not(self):
        fires, passes = set(), set()
        for case in yaml.safe_load(CASES.read_text())["tests"]:
            for check in case["alert_rule_test"]:
                (fires if check["exp_alerts"] else passes).add(check["alertname"])
        self.assertEqual(fires, set(self.alerts))
        self.assertEqual(passes, set(self.alerts))

    def test_every_series_label_and_value_is_on_the_page_of_a_real_server(self):
        with ServerProcess() as server:
            page = MetricsPage(server.admin("/metrics"))
        recorded = {rule["record"] for rule in self.rules if "record" in rule}
        for rule in self.rules:
            with self.subTest(rule=rule.get("alert") or rule["record"]):
                self.assertEqual(list(page.missing(rule["expr"])), [])
                self.assertLessEqual(set(re.findall(r"posenc:[\w:]+", rule["expr"])), recorded)

    def test_every_alert_says_what_it_is_and_has_its_runbook_entry(self):
        entries = re.findall(r"^### (\w+)$", (DEPLOY / "RUNBOOK.md").read_text(), re.M)
        self.assertEqual(entries, list(self.alerts), "one entry for each alert, in the order of rules.yml")
        for name, alert in self.alerts.items():
            with self.subTest(alert=name):
                self.assertIn(alert["labels"]["severity"], ("critical", "warning"))
                self.assertEqual(alert["annotations"]["runbook"], f"RUNBOOK.md#{name.lower()}")
                self.assertTrue(alert["annotations"]["summary"].endswith("."))


class MissingTest(unittest.TestCase):
    """The check itself notices what is wrong."""

    PAGE = MetricsPage('# HELP posenc_a x\nposenc_a{state="on"} 1\nposenc_b 2\n')

    def test_names_labels_and_values_are_looked_up(self):
        for expression, missing in (
                ('posenc_a{state="on"} / on (job) posenc_b', []),
                ("posenc_c", ["no series posenc_c"]),
                ('posenc_b{state="on"}', ["posenc_b has no label state"]),
                ('posenc_a{state=~"on|off"}', ["posenc_a has no state like off; it has ['on']"]),
                ("sum by (colour) (posenc_b)", ["no series has a label colour"])):
            with self.subTest(expression=expression):
                self.assertEqual(list(self.PAGE.missing(expression)), missing)


if __name__ == "__main__":
    unittest.main()
