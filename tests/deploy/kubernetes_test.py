"""The manifests, rendered by the real kubectl: who selects whom, probes, privileges, and settings that the server takes."""

import json
import pathlib
import re
import subprocess
import tempfile
import unittest

import yaml
from metrics_page import BINARIES, DEADLINE, DEPLOY, ServerProcess

KUBERNETES = DEPLOY / "kubernetes"
FOLDERS = ("base", "overlays/monitored", "overlays/daemonset", "overlays/sidecar")

# The fields that we use of each part, spelled as the API spells them: a misspelt one is dropped without a word.
POD_FIELDS = {"serviceAccountName", "automountServiceAccountToken", "enableServiceLinks", "securityContext", "volumes",
              "terminationGracePeriodSeconds", "topologySpreadConstraints", "initContainers", "containers"}
CONTAINER_FIELDS = {"name", "image", "args", "command", "ports", "resources", "startupProbe", "readinessProbe",
                    "livenessProbe", "securityContext", "volumeMounts"}
PROBE_FIELDS = {"httpGet", "periodSeconds", "timeoutSeconds", "failureThreshold"}
SECURITY_FIELDS = {"runAsNonRoot", "runAsUser", "runAsGroup", "allowPrivilegeEscalation", "readOnlyRootFilesystem",
                   "capabilities", "seccompProfile"}


class Rendered:
    """All objects of one folder."""

    def __init__(self, folder):
        done = subprocess.run(["kubectl", "kustomize", KUBERNETES / folder], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        self.objects = list(yaml.safe_load_all(done.stdout))

    def of(self, kind):
        return [thing for thing in self.objects if thing["kind"] == kind]

    def workloads(self):
        return self.of("Deployment") + self.of("DaemonSet")

    def selected(self, selector):
        """The pods that a selector finds."""
        pods = [thing["spec"]["template"] for thing in self.workloads()]
        return [pod for pod in pods if selector.items() <= pod["metadata"]["labels"].items()]

    def config(self, pod):
        """The files of the ConfigMap that a pod mounts as /etc/posenc."""
        name = next(volume["configMap"]["name"] for volume in pod["spec"]["volumes"] if "configMap" in volume)
        return next(thing["data"] for thing in self.of("ConfigMap") if thing["metadata"]["name"] == name)


def server_of(pod):
    return next(container for container in pod["spec"]["containers"] if container["name"] == "posenc-server")


def ports_of(pod):
    return {port["name"]: port["containerPort"] for container in pod["spec"]["containers"]
            for port in container.get("ports", ())}


def seconds(text):
    return int(re.fullmatch(r"(\d+)s", text)[1])


class KubernetesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.rendered = {folder: Rendered(folder) for folder in FOLDERS}

    def each_pod(self):
        for folder, rendered in self.rendered.items():
            for workload in rendered.workloads():
                with self.subTest(folder=folder, workload=workload["metadata"]["name"]):
                    self.assertEqual(workload["spec"]["selector"]["matchLabels"],
                                     workload["spec"]["template"]["metadata"]["labels"])
                    yield rendered, workload["spec"]["template"]

    def test_folders_render_to_what_they_promise(self):
        everything = {"Namespace", "ServiceAccount", "Deployment", "Service", "PodDisruptionBudget", "ConfigMap",
                      "HorizontalPodAutoscaler", "NetworkPolicy"}
        expected = {"base": everything,
                    "overlays/monitored": everything | {"ServiceMonitor", "PrometheusRule"},
                    "overlays/daemonset": {"Namespace", "ServiceAccount", "DaemonSet", "Service", "ConfigMap",
                                           "NetworkPolicy"},
                    "overlays/sidecar": {"Deployment", "ConfigMap"}}
        for folder, rendered in self.rendered.items():
            self.assertEqual({thing["kind"] for thing in rendered.objects}, expected[folder], folder)

    def test_fields_are_spelled_right(self):
        for _, pod in self.each_pod():
            self.assertLessEqual(set(pod["spec"]), POD_FIELDS)
            for container in pod["spec"]["containers"] + pod["spec"].get("initContainers", []):
                self.assertLessEqual(set(container), CONTAINER_FIELDS)
                self.assertLessEqual(set(container["securityContext"]), SECURITY_FIELDS)
                for probe in (container[field] for field in container if field.endswith("Probe")):
                    self.assertLessEqual(set(probe), PROBE_FIELDS)

    def test_probes_ask_pages_that_the_server_has(self):
        with ServerProcess() as server:
            for _, pod in self.each_pod():
                container = server_of(pod)
                for kind, page in (("startup", "/readyz"), ("readiness", "/readyz"), ("liveness", "/livez")):
                    get = container[kind + "Probe"]["httpGet"]
                    self.assertEqual(get["path"], page)
                    self.assertEqual(ports_of(pod)[get["port"]], 9464)
                    server.admin(get["path"])

    def test_containers_have_no_privileges(self):
        for _, pod in self.each_pod():
            for container in pod["spec"]["containers"]:
                rights = {**pod["spec"]["securityContext"], **container["securityContext"]}
                self.assertTrue(rights["runAsNonRoot"])
                self.assertEqual(rights["runAsUser"], 65532)
                self.assertEqual(rights["seccompProfile"], {"type": "RuntimeDefault"})
                self.assertIs(rights["allowPrivilegeEscalation"], False)
                self.assertTrue(rights["readOnlyRootFilesystem"])
                self.assertEqual(rights["capabilities"], {"drop": ["ALL"]})
            for container in pod["spec"].get("initContainers", []):
                self.assertEqual(container["securityContext"]["capabilities"],
                                 {"drop": ["ALL"], "add": ["CHOWN", "FOWNER"]})
            self.assertIs(pod["spec"]["enableServiceLinks"], False)

    def test_memory_is_requested_as_limited(self):
        for _, pod in self.each_pod():
            resources = server_of(pod)["resources"]
            self.assertEqual(resources["requests"]["memory"], resources["limits"]["memory"])

    def test_pods_are_given_the_time_that_a_drain_takes(self):
        for rendered, pod in self.each_pod():
            text = rendered.config(pod)["server.toml"]
            drain = sum(seconds(value) for value in re.findall(r'^drain-\w+ = "(\w+)"', text, re.M))
            self.assertGreaterEqual(pod["spec"]["terminationGracePeriodSeconds"], drain + 5)

    def test_server_takes_the_settings(self):
        for rendered, pod in self.each_pod():
            server = server_of(pod)
            self.assertEqual(server["args"], ["--config", "/etc/posenc/server.toml"])
            self.assertIn("/etc/posenc", [mount["mountPath"] for mount in server["volumeMounts"]])
            with tempfile.TemporaryDirectory() as folder:
                for name, text in rendered.config(pod).items():
                    (pathlib.Path(folder) / name).write_text(text.replace("/etc/posenc", folder))
                done = subprocess.run([BINARIES / "posenc-server", "--config", f"{folder}/server.toml",
                                       "--check-config"], capture_output=True, text=True, timeout=DEADLINE)
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_volumes_that_are_mounted_are_there(self):
        for rendered, pod in self.each_pod():
            volumes = {volume["name"] for volume in pod["spec"]["volumes"]}
            for container in pod["spec"]["containers"] + pod["spec"].get("initContainers", []):
                self.assertLessEqual({mount["name"] for mount in container.get("volumeMounts", ())}, volumes)

    def test_memory_socket_lies_in_a_folder_that_others_see(self):
        for folder, volume_kind in (("overlays/daemonset", "hostPath"), ("overlays/sidecar", "emptyDir")):
            rendered = self.rendered[folder]
            pod = rendered.workloads()[0]["spec"]["template"]
            path = re.search(r'^shared-memory-socket = "(.*)/', rendered.config(pod)["server.toml"], re.M)[1]
            name = next(mount["name"] for mount in server_of(pod)["volumeMounts"] if mount["mountPath"] == path)
            self.assertIn(volume_kind, next(entry for entry in pod["spec"]["volumes"] if entry["name"] == name))
        sharers = [mount["mountPath"] for container in pod["spec"]["containers"]
                   for mount in container["volumeMounts"] if mount["name"] == name]
        self.assertEqual(sharers, [path, path])

    def test_services_lead_to_ports_of_pods(self):
        for folder, rendered in self.rendered.items():
            for service in rendered.of("Service"):
                pods = rendered.selected(service["spec"]["selector"])
                self.assertEqual(len(pods), 1, folder)
                for port in service["spec"]["ports"]:
                    self.assertEqual(port["port"], ports_of(pods[0])[port["targetPort"]])
        by_name = {service["metadata"]["name"]: service["spec"] for service in self.rendered["base"].of("Service")}
        self.assertEqual(by_name["posenc-headless"]["clusterIP"], "None")
        self.assertNotIn("clusterIP", by_name["posenc"])

    def test_budget_autoscaler_and_policy_are_about_the_pods(self):
        base = self.rendered["base"]
        name = base.of("Deployment")[0]["metadata"]["name"]
        budget = base.of("PodDisruptionBudget")[0]["spec"]
        self.assertEqual((len(base.selected(budget["selector"]["matchLabels"])), budget["maxUnavailable"]), (1, 1))
        scaler = base.of("HorizontalPodAutoscaler")[0]["spec"]
        self.assertEqual(scaler["scaleTargetRef"], {"apiVersion": "apps/v1", "kind": "Deployment", "name": name})
        self.assertGreaterEqual(scaler["minReplicas"], 2)
        self.assertNotIn("replicas", base.of("Deployment")[0]["spec"])
        for folder in ("base", "overlays/daemonset"):
            policy = self.rendered[folder].of("NetworkPolicy")[0]["spec"]
            pods = self.rendered[folder].selected(policy["podSelector"]["matchLabels"])
            self.assertEqual(len(pods), 1)
            self.assertEqual([port["port"] for rule in policy["ingress"] for port in rule["ports"]],
                             list(ports_of(pods[0])))
            self.assertEqual((policy["policyTypes"], policy["egress"]), (["Ingress", "Egress"], []))

    def test_monitor_scrapes_each_pod_once(self):
        rendered = self.rendered["overlays/monitored"]
        monitor = rendered.of("ServiceMonitor")[0]["spec"]
        wanted = monitor["selector"]["matchLabels"].items()
        services = [entry for entry in rendered.of("Service") if wanted <= entry["metadata"]["labels"].items()]
        self.assertEqual([service["metadata"]["name"] for service in services], ["posenc"])
        ports = {port["name"] for port in services[0]["spec"]["ports"]}
        self.assertLessEqual({endpoint["port"] for endpoint in monitor["endpoints"]}, ports)

    def test_operator_gets_the_rules(self):
        rules = self.rendered["overlays/monitored"].of("PrometheusRule")[0]["spec"]
        # Newer kubectls fold long lines in their own way.
        spaced = [re.sub(r"(\\n| )+", " ", json.dumps(each)) for each in
                  (rules, yaml.safe_load((DEPLOY / "prometheus/rules.yml").read_text()))]
        self.assertEqual(json.loads(spaced[0]), json.loads(spaced[1]), "run deploy/prometheus/make_prometheus_rule.py")

    def test_everything_is_in_one_namespace(self):
        for folder in ("base", "overlays/monitored", "overlays/daemonset"):
            for thing in self.rendered[folder].objects:
                where = thing["metadata"]["name" if thing["kind"] == "Namespace" else "namespace"]
                self.assertEqual(where, "posenc", thing["metadata"]["name"])


if __name__ == "__main__":
    unittest.main()
