"""Turns the lines of JSON that the ratio programs print into a table, and into a file for machines."""

import json
import os
import platform
import sys


def machine():
    """Names the processor, its cores, the memory and the compiler's platform."""
    model = "unknown processor"
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        for line in info:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    memory_gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{model}, {os.cpu_count()} cores, {memory_gib:.0f} GiB, {platform.platform()}"


def main():
    with open(sys.argv[1], encoding="utf-8") as lines:
        ratios = [json.loads(line) for line in lines if line.strip()]
    print(f"machine: {machine()}")
    print(f"{'ratio':36} {'median':>8} {'quartiles':>15}  {'ours':>12} {'other':>12}")
    for ratio in ratios:
        spread = f"{ratio['low']:.2f} - {ratio['high']:.2f}"
        print(f"{ratio['key']:36} {ratio['value']:8.3f} {spread:>15}  "
              f"{ratio['ours']:>12} {ratio['alternative']:>12}")
    if len(sys.argv) > 2:
        with open(sys.argv[2], "w", encoding="utf-8") as out:
            json.dump({"machine": machine(),
                       "ratios": {ratio["key"]: ratio["value"] for ratio in ratios},
                       "details": ratios}, out, indent=2)
            out.write("\n")


if __name__ == "__main__":
    main()
