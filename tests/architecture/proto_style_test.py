"""Our protos obey the style, and the rules find the faults they are there for."""

import pathlib
import subprocess
import tempfile
import unittest

import arguments
import proto_style
from google.protobuf import descriptor_pb2

GOOD = """syntax = "proto3"; package posenc.v1;
enum Kind { KIND_UNSPECIFIED = 0; KIND_ONE = 1; }
message GetItRequest { optional int64 max_len = 1; oneof row_choice { int64 a = 2; } }
message GetItResponse { map<string, Kind> kinds = 1; }
service ThingService { rpc GetIt(GetItRequest) returns (stream GetItResponse); }
"""

FAULTS = [
    ("KIND_ONE", "ONE"),
    ("KIND_UNSPECIFIED", "KIND_NONE"),
    ("max_len", "maxLen"),
    ("row_choice", "rowChoice"),
    ("message GetItResponse { map<string, Kind> kinds = 1; }",
     "message GetItResponse { map<string, Kind> kinds = 1; } message lower {}"),
    ("ThingService", "Thing"),
    ("rpc GetIt(", "rpc TakeIt("),
    ("service", "message Outer { enum Mode { ZERO_MODE = 0; } }\nservice"),
]


def descriptors(folder, files):
    out = pathlib.Path(folder) / "set.bin"
    subprocess.run([arguments.ARGUMENTS.protoc, "-I", str(folder), f"--descriptor_set_out={out}", *files],
                   check=True)
    result = descriptor_pb2.FileDescriptorSet.FromString(out.read_bytes())
    out.unlink()
    return result


class ProtoStyleTest(unittest.TestCase):
    def found_in(self, text):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "posenc/v1/thing.proto"
            file.parent.mkdir(parents=True)
            file.write_text(text, encoding="utf-8")
            return list(proto_style.violations(descriptors(folder, ["posenc/v1/thing.proto"]), "posenc.v1"))

    def test_good_file_has_no_violation(self):
        self.assertEqual(self.found_in(GOOD), [])

    def test_every_fault_is_found(self):
        for good, bad in FAULTS:
            with self.subTest(bad=bad):
                self.assertIn(good, GOOD)
                self.assertNotEqual(self.found_in(GOOD.replace(good, bad)), [])

    def test_our_protos_obey(self):
        root = pathlib.Path(arguments.ARGUMENTS.root) / "proto"
        files = [path.relative_to(root).as_posix() for path in sorted(root.glob("posenc/v1/*.proto"))]
        self.assertGreater(len(files), 3)
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "set.bin"
            subprocess.run([arguments.ARGUMENTS.protoc, "-I", str(root), f"--descriptor_set_out={out}",
                            *files], check=True)
            found = descriptor_pb2.FileDescriptorSet.FromString(out.read_bytes())
        self.assertEqual(list(proto_style.violations(found, "posenc.v1")), [])


if __name__ == "__main__":
    arguments.main()
