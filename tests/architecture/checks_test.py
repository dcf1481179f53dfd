"""Every check finds the fault it is there for, and is content with a tree that has none."""

import pathlib
import tempfile
import unittest

import arguments
import checks
from source_tree import SourceTree, functions

GOOD = {
    "CMakeLists.txt": "project(good)\n",
    "server/core/a.h": "#include <vector>\nint A();\n",
    "server/core/a.cc": '#include "server/core/a.h"\nint A() {\n  return 1;\n}\n',
    "server/core/CMakeLists.txt": "posenc_library(core SOURCES a.cc)\n",
    "proto/posenc/v1/s.proto": "service S {\n  rpc GetIt(GetItRequest) returns (GetItResponse);\n}\n",
    "proto/CMakeLists.txt": "set(proto_files posenc/v1/s.proto)\n",
    "README.md": "Good.\n",
    "tests/unit/rpc/get_it_test.cc": "// GetIt\n",
    "tests/unit/rpc/CMakeLists.txt": "posenc_test(rpc_test SOURCES get_it_test.cc)\n",
}

LONG_FUNCTION = "int Long(int x) {\n" + "  if (x) { x++; }\n" * 60 + "}\n"

# Check, path, and content of the file that breaks it.
FAULTS = [
    (checks.arrows, "server/core/a.h", '#include "server/tables/memory/block.h"\n'),
    (checks.arrows, "server/core/a.h", '#include "posenc/v1/spec.pb.h"\n'),
    (checks.arrows, "client/remote/c.cc", '#include "server/tables/memory/block.h"\n'),
    (checks.arrows, "server/telemetry/t.cc", '#  include "server/tables/memory/block.h"\n'),
    (checks.arrows, "server/encodings/e.cc", '#include "posenc/client.h"\n'),
    (checks.top_level, "extra/file.txt", "x\n"),
    (checks.file_budgets, "server/core/a.h", "\n" * 121),
    (checks.file_budgets, "server/core/a.cc", "\n" * 401),
    (checks.function_budgets, "server/core/a.cc", LONG_FUNCTION),
    (checks.function_budgets, "server/core/a.h", "class A {\n  " + LONG_FUNCTION + "};\n"),
    (checks.include_circles, "server/core/a.h", '#include "server/core/a.cc"\n'),
    (checks.documents_name_files, "server/core/README.md", "`core/gone.cc`, `a.cc` and `core/a.cc`\n"),
    (checks.rpcs_have_tests, "tests/unit/rpc/get_it_test.cc", "// GetItNot\n"),
    (checks.sources_are_listed, "server/core/b.cc", "\n"),
    (checks.sources_are_listed, "proto/posenc/v1/t.proto", "\n"),
    (checks.sources_are_listed, "server/core/CMakeLists.txt", "SOURCES aa.cc a.cc.in\n"),
    (checks.words, "server/core/a.cc", "// see /wo" "rk/main\n"),
    (checks.words, "deploy/run.sh", "# deb.deb" "ian.org\n"),
    (checks.words, "server/core/a.cc", "// TO" "DO: more\n"),
]


def make_tree(folder, files):
    for path, text in files.items():
        target = pathlib.Path(folder) / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    return SourceTree(folder)


class ChecksTest(unittest.TestCase):
    def test_good_tree_has_no_violation(self):
        with tempfile.TemporaryDirectory() as folder:
            tree = make_tree(folder, GOOD)
            for check in checks.CHECKS:
                self.assertEqual(list(check(tree)), [], check.__name__)

    def test_every_fault_is_found(self):
        for check, path, text in FAULTS:
            with self.subTest(check=check.__name__, text=text[:40]), tempfile.TemporaryDirectory() as folder:
                found = list(check(make_tree(folder, {**GOOD, path: text})))
                self.assertEqual(len(found), 1, found)

    def test_crowded_folder_is_found(self):
        crowd = {f"server/core/f{i}.h": "\n" for i in range(checks.MAX_FOLDER_FILES - 1)}
        with tempfile.TemporaryDirectory() as folder:
            found = list(checks.folder_budgets(make_tree(folder, {**GOOD, **crowd})))
            self.assertEqual(len(found), 1, found)

    def test_every_check_has_a_fault(self):
        tried = {check for check, _, _ in FAULTS} | {checks.folder_budgets}
        self.assertEqual(tried, set(checks.CHECKS))


class FunctionsTest(unittest.TestCase):
    def lengths(self, text):
        return {name: count for name, _, count in functions(text)}

    def test_functions_of_all_forms_are_found(self):
        text = ("namespace a {\nstruct S {\n  S() : x_(1) {}\n  int Get() const {\n    return x_;\n  }\n"
                "  int x_ = 0;\n};\nauto F(int x)\n    -> int {\n  auto g = [](int y) { return y; };\n"
                "  return g(x);\n}\n}\n")
        self.assertEqual(self.lengths(text), {"S": 1, "Get": 3, "F": 5})

    def test_braces_in_comments_strings_and_directives_do_not_count(self):
        text = ("#define X(a) \\\n  { a\nint F() {\n  // }\n  const char* s = \"}\";\n"
                "  char c = '{';\n  int n = 1'000;\n  return 0;\n}\n")
        self.assertEqual(self.lengths(text), {"F": 7})


if __name__ == "__main__":
    arguments.main()
