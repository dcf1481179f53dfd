#!/usr/bin/python3
"""Writes rules.yml once more as the PrometheusRule of the monitored overlay; kustomize reads no file from outside."""

import pathlib

HERE = pathlib.Path(__file__).resolve().parent
TARGET = HERE.parent / "kubernetes/overlays/monitored/prometheusrule.yaml"
HEADER = """\
# Made of prometheus/rules.yml by prometheus/make_prometheus_rule.py: change it there.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: posenc
  labels: {app.kubernetes.io/name: posenc}
spec:
"""


def rendered():
    lines = (HERE / "rules.yml").read_text().splitlines()
    lines = lines[lines.index("groups:"):]
    return HEADER + "".join(f"  {line}".rstrip() + "\n" for line in lines)


if __name__ == "__main__":
    TARGET.write_text(rendered())
