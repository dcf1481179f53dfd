"""The command-line program: the same bytes from a server, from itself, and from every kernel."""

import json
import os
import subprocess
import unittest

import reference
from harness import BINARIES, DEADLINE, ServerTest

ROPE = ("rope", "--head-dim", "128", "--max-len", "131072", "--base", "500000", "--positions", "131071")


def posenc(*arguments, **environment):
    return subprocess.run([BINARIES / "posenc", *arguments], env={**os.environ, **environment}, check=True,
                          capture_output=True, timeout=DEADLINE).stdout


class CommandLineTest(ServerTest):
    def test_server_and_program_give_the_same_bytes(self):
        for family in (ROPE, ("sinusoidal", "--d-model", "512", "--rows", "0:100"),
                       ("alibi", "--heads", "12", "--q", "19:20", "--k", "0:20")):
            with self.subTest(family=family):
                remote = posenc(*family, "--format", "raw", "--server", self.server.target)
                self.assertEqual(remote, posenc(*family, "--format", "raw", "--local"))
                self.assertNotEqual(remote, b"")

    def test_scalar_kernels_give_the_same_bytes(self):
        for dtype in reference.FORMATS:
            for rows in (("--rows", "0:3000"), ("--positions", "131071,-5,0")):
                with self.subTest(dtype=dtype, rows=rows):
                    command = ("rope", "--head-dim", "128", "--max-len", "131072", "--base", "500000", *rows,
                               "--dtype", dtype, "--format", "raw", "--local")
                    self.assertEqual(posenc(*command, POSENC_KERNEL_TARGET="SCALAR"), posenc(*command))

    def test_misspelt_kernel_target_is_refused_by_both_programs(self):
        for program, code in ((("posenc", "rope", "--head-dim", "8", "--rows", "0:1", "--local"), 64 + 3),
                              (("posenc-server", "--check-config"), 2)):
            run = subprocess.run([BINARIES / program[0], *program[1:]], capture_output=True, timeout=DEADLINE,
                                 env={**os.environ, "POSENC_KERNEL_TARGET": "SCALR"})
            self.assertEqual(run.returncode, code, run.stderr)
            self.assertIn(b"SCALR", run.stderr)

    def test_json_holds_the_correctly_rounded_cosines(self):
        answer = json.loads(posenc(*ROPE, "--format", "json", "--server", self.server.target))
        tensors = {tensor["name"]: tensor for tensor in answer["tensors"]}
        frequencies = [reference.mpmath.power(500000, -reference.mpmath.mpf(pair) / 64) for pair in range(64)]
        cos, sin = reference.rope_row(131071, frequencies)
        for name, exact in (("cos", cos), ("sin", sin)):
            values = flat(tensors[name]["data"])
            self.assertEqual(reference.pack(values, "F32"),
                             reference.pack([reference.rounded(value, "F32") for value in exact], "F32"))

    def test_exit_codes_tell_usage_from_refusal(self):
        cases = [(2, ("nonsense",)), (64 + 3, ("rope", "--head-dim", "7")),
                 (64 + 11, ("rope", "--head-dim", "8", "--rows", "0:100000"))]
        for code, arguments in cases:
            run = subprocess.run([BINARIES / "posenc", *arguments, "--server", self.server.target],
                                 capture_output=True, timeout=DEADLINE)
            self.assertEqual((run.returncode, run.stdout), (code, b""), (arguments, run.stderr))
            self.assertNotEqual(run.stderr, b"")


def flat(data):
    if isinstance(data, list):
        return [value for part in data for value in flat(part)]
    return [data]


if __name__ == "__main__":
    unittest.main()
