"""Turns the lines of JSON that the ratio programs print into a table, and into a file for machines.

    report.py LINES [JSON]         the table on stdout; the same for machines in JSON
    report.py --markdown LINES     the table in Markdown
    report.py --insert PART FILE   puts FILE between the marks of PART ("ratios", "growth") in RESULTS.md
    report.py --about              machine, versions, load
    report.py --keys               every key with its goal
    report.py --program KEY        the program that measures KEY
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
    ("generate_kept_memory_vs_pytorch", "pytorch_ratios", "", ""),
    ("generate_new_memory_vs_pytorch", "pytorch_ratios", "", ""),
    ("fetch_vs_pytorch_build", "pytorch_ratios", ">= 3", ""),
    ("fetch_duplicated_vs_pytorch_build", "pytorch_ratios", "", ""),
    ("ops_vs_pytorch", "pytorch_ratios", ">= 2", ""),
    ("rotate_vs_pytorch", "pytorch_ratios", "", ""),
    ("add_vs_pytorch", "pytorch_ratios", "", ""),
    ("unary_4k_vs_raw_grpc", "rpc_ratios", "<= 1.1", ""),
    ("unary_4k_server_vs_raw_grpc", "rpc_ratios", "", ""),
    ("stream_vs_raw_grpc", "rpc_ratios", ">= 0.95", ""),
    ("stream_server_vs_raw_grpc", "rpc_ratios", "", ""),
    ("stream_vs_typed_grpc", "rpc_ratios", ">= 4", ""),
    ("stream_vs_typed_message", "rpc_ratios", "", ""),
    ("attach_1gib_ms", "server_figures", "<= 5", "ms"),
    ("attach_1gib_new_client_ms", "server_figures", "", "ms"),
    ("near_cache_slice_ns", "near_cache_figure", "<= 100", "ns"),
    ("near_cache_kept_request_ns", "near_cache_figure", "", "ns"),
    ("cold_first_row_ms", "server_figures", "<= 2", "ms"),
    ("cold_first_row_sinusoidal_ms", "server_figures", "", "ms"),
    ("server_rss_over_budget", "server_figures", "<= 64", "MiB"),
    ("fetch_p99_beside_bulk", "beside_bulk", "< 10", ""),
    ("raw_grpc_p99_beside_bulk", "beside_bulk", "", ""),
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


def about():
    """What must be known to judge the figures."""
    return {"machine": machine(), "versions": versions(), "load before": f"{os.getloadavg()[0]:.1f}"}


def figures_of(lines_path):
    with open(lines_path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def goal_of(key):
    """The goal in words, and the unit."""
    for known, _, goal, unit in KEYS:
        if key == known:
            return (f"goal {goal}" if goal else ""), unit
    return "", ""


def number(value):
    """Three digits or so."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def cells(figure):
    """The columns of one figure: key, median, goal, quartiles, ours, other."""
    key = figure["key"]
    goal, unit = goal_of(key)
    if "not_measured" in figure:
        return [key, "", goal, f"not measured: {figure['not_measured']}", "", ""]
    return [key, f"{number(figure['value'])} {unit}".strip(), goal,
            f"{number(figure['low'])} - {number(figure['high'])}", figure["ours"], figure["alternative"]]


HEADER = ["ratio", "median", "", "quartiles", "ours", "other"]


def print_text(figures):
    for name, value in about().items():
        print(f"{name}: {value}")
    for row in [HEADER] + [cells(figure) for figure in figures]:
        print(f"{row[0]:36} {row[1]:>10}  {row[2]:12} {row[3]:>15}  {row[4]:>12} {row[5]:>12}".rstrip())


def print_about():
    for name, value in about().items():
        print(f"{name[0].upper()}{name[1:]}: {value}  ")
    print()


def print_markdown(figures):
    print_about()
    for row in [HEADER, ["---", "---:", "---", "---:", "---:", "---:"]] + [cells(f) for f in figures]:
        print("| " + " | ".join(row) + " |")
    print()
    for figure in figures:
        if "what" in figure:
            print(f"* `{figure['key']}`: {figure['what']}")


def write_json(figures, path):
    ratios = {figure["key"]: figure["value"] for figure in figures if "value" in figure}
    with open(path, "w", encoding="utf-8") as out:
        json.dump({**about(), "ratios": ratios, "details": figures}, out, indent=2)
        out.write("\n")


def insert(part, path):
    """Replaces what stands between the marks of a part in RESULTS.md."""
    results_path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "RESULTS.md")
    with open(results_path, encoding="utf-8") as results:
        text = results.read()
    begin, end = f"<!-- {part} begins -->\n", f"<!-- {part} ends -->\n"
    if begin not in text or end not in text:
        sys.exit(f"RESULTS.md has no marks for {part}")
    with open(path, encoding="utf-8") as new:
        text = text[:text.index(begin) + len(begin)] + "\n" + new.read().strip() + "\n\n" + text[text.index(end):]
    with open(results_path, "w", encoding="utf-8") as results:
        results.write(text)


def print_keys():
    for key, _, goal, unit in KEYS:
        print(f"  {key:36} {'goal ' + goal if goal else '':14} {unit}".rstrip())


def print_program(key):
    programs = [program for known, program, _, _ in KEYS if key == known]
    if not programs:
        sys.exit(f"run.sh: no such key: {key}; --help lists them")
    print(programs[0])


def main():
    command, *rest = sys.argv[1:]
    actions = {"--keys": print_keys, "--about": print_about, "--program": print_program, "--insert": insert,
               "--markdown": lambda path: print_markdown(figures_of(path))}
    if command in actions:
        actions[command](*rest)
        return
    print_text(figures_of(command))
    if rest:
        write_json(figures_of(command), rest[0])


if __name__ == "__main__":
    main()
