"""The unit of systemd, the configuration that the package installs, and compose.yaml."""

import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import yaml
from metrics_page import BINARIES, DEADLINE, DEPLOY, SOURCES

UNIT = DEPLOY / "systemd/posenc-server.service"


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE, **options)


def server_accepts(test, *flags):
    done = run(BINARIES / "posenc-server", *flags, "--check-config")
    test.assertEqual(done.returncode, 0, done.stderr)


class UnitTest(unittest.TestCase):
    def setUp(self):
        text = UNIT.read_text()
        self.settings = dict(re.findall(r"^(\w+)=(.*)$", text, re.M))
        # As the package would install it, but with the program where it was built.
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.unit = pathlib.Path(folder) / UNIT.name
        self.unit.write_text(text.replace("/usr/bin/posenc-server", str(BINARIES / "posenc-server")))

    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd is not installed")
    def test_systemd_accepts_the_unit(self):
        done = run("systemd-analyze", "verify", self.unit)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd is not installed")
    def test_exposure_is_small(self):
        done = run("systemd-analyze", "security", "--offline=true", "--threshold=15", self.unit)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_unit_starts_what_the_package_installs_and_waits_for_the_drain(self):
        self.assertEqual(self.settings["ExecStart"], "/usr/bin/posenc-server --config /etc/posenc/server.toml")
        self.assertEqual(self.settings["User"], "posenc")
        config = (DEPLOY / "packaging/server.toml").read_text()
        drain = sum(int(value) for value in re.findall(r'^drain-\w+ = "(\d+)s"', config, re.M))
        self.assertGreater(int(self.settings["TimeoutStopSec"]), drain)
        folder = re.search(r'^shared-memory-socket = "/run/(\w+)/', config, re.M)[1]
        self.assertEqual(self.settings["RuntimeDirectory"], folder)

    def test_server_takes_the_packaged_configuration(self):
        server_accepts(self, "--config", DEPLOY / "packaging/server.toml")

    def test_packaged_configuration_opens_nothing_to_the_network(self):
        shown = run(BINARIES / "posenc-server", "--config", DEPLOY / "packaging/server.toml", "--print-config").stdout
        self.assertEqual(set(re.findall(r'^(?:admin-)?listen = .*?"([\d.]+):', shown, re.M)), {"127.0.0.1"})


class ComposeTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]

    def test_files_that_are_mounted_are_there(self):
        for name, service in self.services.items():
            for volume in service["volumes"]:
                source, _, mode = volume.split(":")
                self.assertTrue((DEPLOY / source).exists(), f"{name}: {source}")
                self.assertEqual(mode, "ro")
        self.assertTrue((DEPLOY / self.services["posenc"]["build"]["context"] / "Dockerfile").exists())

    def test_server_takes_its_flags(self):
        model = self.services["posenc"]["volumes"][0].split(":")
        flags = [flag.replace(model[1], str(DEPLOY / model[0])) for flag in self.services["posenc"]["command"]]
        server_accepts(self, *flags)

    def test_prometheus_and_grafana_find_each_other(self):
        config = yaml.safe_load((DEPLOY / "prometheus/prometheus.yml").read_text())
        targets = config["scrape_configs"][0]["static_configs"][0]["targets"]
        self.assertEqual([target.split(":")[0] for target in targets], ["posenc"])
        provisioning = DEPLOY / "grafana/provisioning"
        source = yaml.safe_load((provisioning / "datasources/prometheus.yaml").read_text())["datasources"][0]
        self.assertEqual(source["url"], "http://prometheus:9090")
        provider = yaml.safe_load((provisioning / "dashboards/posenc.yaml").read_text())["providers"][0]
        places = [volume.split(":")[1] for volume in self.services["grafana"]["volumes"]]
        self.assertIn(provider["options"]["path"] + "/posenc.json", places)

    def test_ports_are_open_on_the_loopback_alone(self):
        for service in self.services.values():
            for port in service["ports"]:
                self.assertRegex(port, r"^127\.0\.0\.1:")

    @unittest.skipUnless(shutil.which("docker") and run("docker", "compose", "version").returncode == 0,
                         "docker compose is not installed")
    def test_docker_compose_reads_it(self):
        done = run("docker", "compose", "-f", DEPLOY / "compose.yaml", "config", "--format", "json", cwd=SOURCES)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(set(json.loads(done.stdout)["services"]), set(self.services))


if __name__ == "__main__":
    unittest.main()
