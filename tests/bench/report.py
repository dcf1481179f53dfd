"""Turns the lines of JSON that the ratio programs print into a table, and into a file for machines.

    report.py LINES [JSON]   the table on stdout; the same for machines in JSON
    report.py --keys         every key with its goal and meaning
    report.py --program KEY  the program that measures KEY
"""

import json
import os
import platform
import subprocess
import sys

# The goals of the design, stated beside the values; a benchmark never fails. Keys without one show the same
# for other layouts, element types and ways.
KEYS = [
    # key, program, goal, unit
    ("generate_vs_memset", "generate_vs_memset", ">= 0.6", ""),
    ("generate_f64_vs_memset", "generate_vs_memset", "", ""),
    ("generate_f16_vs_memset", "generate_vs_memset", "", ""),
    ("generate_bf16_vs_memset", "generate_vs_memset", "", ""),
    ("generate_split_duplicated_vs_memset", "generate_vs_memset", "", ""),
    ("generate_split_repeated_vs_memset", "generate_vs_memset", "", ""),
    ("generate_cos_sin_vs_memset", "generate_vs_memset", "", ""),
    ("generate_pairs_vs_memset", "generate_vs_memset", "", ""),
    ("generate_vs_pytorch", "pytorch_ratios", ">= 12", ""),
    ("generate_duplicated_vs_pytorch", "pytorch_ratios", ">= 12", ""),
    ("generate_new_memory_vs_pytorch", "pytorch_ratios", "", ""),
    ("fetch_vs_pytorch_build", "pytorch_ratios", ">= 3", ""),
    ("fetch_duplicated_vs_pytorch_build", "pytorch_ratios", "", ""),
    ("ops_vs_pytorch", "pytorch_ratios", ">= 2", ""),
    ("rotate_vs_pytorch", "pytorch_ratios", "", ""),
    ("add_vs_pytorch", "pytorch_ratios", "", ""),
    ("unary_4k_vs_raw_grpc", "rpc_ratios", "<= 1.1", ""),
    ("stream_vs_raw_grpc", "rpc_ratios", ">= 0.95", ""),
    ("stream_vs_typed_grpc", "rpc_ratios", ">= 4", ""),
    ("stream_vs_typed_message", "rpc_ratios", "", ""),
    ("attach_1gib_ms", "server_figures", "<= 5", "ms"),
    ("attach_1gib_new_client_ms", "server_figures", "", "ms"),
    ("near_cache_slice_ns", "near_cache_figure", "<= 100", "ns"),
    ("cold_first_row_ms", "server_figures", "<= 2", "ms"),
    ("cold_first_row_sinusoidal_ms", "server_figures", "", "ms"),
    ("server_rss_over_budget", "server_figures", "<= 64", "MiB"),
    ("fetch_p99_beside_bulk", "server_figures", "< 10", ""),
]


def machine():
    """Names the processor, its cores, the memory and the kernel."""
    model = "unknown processor"
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        for line in info:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    memory_gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{model}, {os.cpu_count()} cores, {memory_gib:.0f} GiB, {platform.platform()}"


def output_of(*command):
    """The command's output in one line, or why there is none."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
        return " ".join(done.stdout.split())
    except (OSError, subprocess.SubprocessError) as error:
        return f"unknown ({type(error).__name__})"


def versions():
    """Names the compiler, the libraries and what is measured against."""
    server = output_of("build/release/bin/posenc-server", "--version")
    torch = output_of("/usr/bin/python3", "-c", "import torch; print(torch.__version__)")
    return f"{server}; PyTorch {torch}"


def row(figure, goals):
    """One line of the table."""
    key = figure["key"]
    if "not_measured" in figure:
        return f"{key:36} not measured: {figure['not_measured']}"
    goal, unit = goals.get(key, ("", ""))
    spread = f"{figure['low']:.2f} - {figure['high']:.2f}"
    return (f"{key:36} {figure['value']:9.3f} {unit:4} {'goal ' + goal if goal else '':13} {spread:>17}  "
            f"{figure['ours']:>12} {figure['alternative']:>12}")


def report(lines_path, json_path):
    with open(lines_path, encoding="utf-8") as lines:
        figures = [json.loads(line) for line in lines if line.strip()]
    goals = {key: (goal, unit) for key, _, goal, unit in KEYS}
    about = {"machine": machine(), "versions": versions(), "load": f"{os.getloadavg()[0]:.1f}"}
    for name, value in about.items():
        print(f"{name}: {value}")
    print(f"{'ratio':36} {'median':>9} {'':4} {'':13} {'quartiles':>17}  {'ours':>12} {'other':>12}")
    for figure in figures:
        print(row(figure, goals))
    if json_path:
        ratios = {figure["key"]: figure["value"] for figure in figures if "value" in figure}
        with open(json_path, "w", encoding="utf-8") as out:
            json.dump({**about, "ratios": ratios, "details": figures}, out, indent=2)
            out.write("\n")


def main():
    if sys.argv[1] == "--keys":
        for key, program, goal, unit in KEYS:
            print(f"  {key:36} {'goal ' + goal if goal else '':14} {unit}".rstrip())
    elif sys.argv[1] == "--program":
        programs = [program for key, program, _, _ in KEYS if key == sys.argv[2]]
        sys.exit(f"no such key: {sys.argv[2]}; --help lists them" if not programs else print(programs[0]))
    else:
        report(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None)


if __name__ == "__main__":
    main()
