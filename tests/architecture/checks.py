"""What must hold for the source tree. Every check takes a SourceTree and yields a line per violation."""

import collections
import os
import re

from source_tree import functions

# The rooms of server/models; the folder itself puts their answers together.
MODELS_ROOMS = tuple("server/models/" + room for room in (
    "answer", "config", "diffusers", "families", "gguf", "parts", "readers", "rotary", "runtimes", "tensors"))

# Which folders a folder may include from, besides itself: the arrows of the design.
ARROWS = {
    "server/core": (),
    "server/encodings": ("server/core",),
    "server/tables": ("server/core", "server/encodings"),
    "server/models": ("server/core", *MODELS_ROOMS),
    "server/models/config": ("server/core",),
    "server/models/answer": ("server/core", "server/models/config"),
    "server/models/families": ("server/core", "server/models/config", "server/models/answer"),
    "server/models/rotary": ("server/core", "server/models/config", "server/models/answer",
                             "server/models/families"),
    "server/models/runtimes": ("server/core", "server/models/config", "server/models/answer",
                               "server/models/families", "server/models/rotary"),
    "server/models/readers": ("server/core", "server/models/config", "server/models/answer",
                              "server/models/families", "server/models/rotary", "server/models/runtimes"),
    "server/models/parts": ("server/core", "server/models/config", "server/models/answer",
                            "server/models/families", "server/models/readers"),
    "server/models/diffusers": ("server/core", "server/models/config", "server/models/answer"),
    "server/models/gguf": ("server/core", "server/models/config", "server/models/answer",
                           "server/models/families", "server/models/rotary", "server/models/readers"),
    "server/models/tensors": ("server/core", "server/models/config"),
    "server/telemetry": ("server/core",),
    "proto": ("server/core",),
    "server/rpc": ("server/core", "server/encodings", "server/tables", "server/models", "proto"),
    "server/app": ("server/core", "server/encodings", "server/tables", "server/models",
                   "server/models/tensors",
                   "server/telemetry", "server/rpc", "proto"),
    "client": ("proto", "server/core", "server/encodings", "server/models", "server/models/answer",
               "server/models/gguf", "server/models/tensors"),
}

TOP_LEVEL = {"proto", "server", "client", "tests", "deploy", "CMakeLists.txt", "CMakePresets.json",
             "Dockerfile", "README.md", "build"}

MAX_HEADER_LINES = 120
MAX_SOURCE_LINES = 400
MAX_FUNCTION_LINES = 60
MAX_FOLDER_FILES = 30

# Written in pieces, so that this file does not hold them.
FORBIDDEN_WORDS = [re.compile(word, re.I) for word in (
    "/wo" "rk/", "/fa" "rm/", r"\.\./sh" "ared", r"\.lib" "rary", "sub-?ag" "ent", r"deb\.deb" "ian",
    r"registry\.npm" "js")]
UNFINISHED_MARKS = re.compile("TO" "DO|FIX" "ME|X" "XX|HA" "CK|not impl" "emented")


def folder_of(path):
    """The folder with arrows that a path belongs to, or None."""
    for folder in sorted(ARROWS, key=len, reverse=True):
        if path.startswith(folder + "/"):
            return folder
    return None


def target_of(include):
    """The folder that an include path names; generated messages and the client's own headers too."""
    if include.startswith(("posenc/v1/", "google/rpc/", "grpc/health/")):
        return "proto"
    if include.startswith("posenc/"):
        return "client"
    return folder_of(include)


def arrows(tree):
    for path in tree.files(".h", ".cc"):
        here = folder_of(path)
        if here is None:
            continue
        for number, line in enumerate(tree.lines(path), 1):
            match = re.match(r'\s*#\s*include\s*["<]([^">]+)[">]', line)
            there = match and target_of(match.group(1))
            if there and there != here and there not in ARROWS[here]:
                yield f"{path}:{number}: {here} must not include {there} ({match.group(1)})"


def top_level(tree):
    for path in sorted(tree.root.iterdir()):
        if not path.name.startswith(".") and path.name not in TOP_LEVEL:
            yield f"{path.name}: stands at the top level, where only {', '.join(sorted(TOP_LEVEL))} may"


def file_budgets(tree):
    for path in tree.files(".h", ".cc", ".py"):
        # Kernels that are included once per target, and fixtures of tests, are code in a header.
        is_code = not path.endswith(".h") or path.endswith("-inl.h") or path.startswith("tests/")
        limit = MAX_SOURCE_LINES if is_code else MAX_HEADER_LINES
        count = len(tree.lines(path))
        if count > limit:
            yield f"{path}: has {count} lines, allowed: {limit}"


def function_budgets(tree):
    for path in tree.files(".h", ".cc"):
        for name, start, count in functions(tree.text(path)):
            if count > MAX_FUNCTION_LINES:
                yield f"{path}:{start}: {name} has {count} lines, allowed: {MAX_FUNCTION_LINES}"


def folder_budgets(tree):
    counts = collections.Counter(os.path.dirname(path) for path in tree.files(".h", ".cc"))
    for folder, count in sorted(counts.items()):
        if count > MAX_FOLDER_FILES:
            yield f"{folder}: has {count} source files, allowed: {MAX_FOLDER_FILES}; give it rooms"


def include_circles(tree):
    """No file reaches itself by its includes."""
    includes = {path: [] for path in tree.files(".h", ".cc")}
    for path in includes:
        for name in re.findall(r'^\s*#\s*include\s*"([^"]+)"', tree.text(path), re.M):
            there = f"client/include/{name}" if name.startswith("posenc/") else name
            if there in includes and there != path:
                includes[path].append(there)
    state = {}

    def visit(path, way):
        state[path] = "open"
        for there in includes[path]:
            if state.get(there) == "open":
                yield f"{there}: includes itself by way of {' '.join((way + [path])[(way + [path]).index(there):])}"
            elif there not in state:
                yield from visit(there, way + [path])
        state[path] = "done"

    for path in sorted(includes):
        if path not in state:
            yield from visit(path, [])


def documents_name_files(tree):
    """A path that a document names leads somewhere: from the top, from server/, or from beside the document."""
    for path in tree.files(".md") + ["README.md"]:
        for name in re.findall(r"`([a-z][\w./-]*/[\w.-]+\.(?:h|cc|proto|py|sh|md|txt))`", tree.text(path)):
            places = (name, f"server/{name}", os.path.join(os.path.dirname(path), name))
            # Public headers are named as they are included, and a copy of a file stands in a build tree.
            if name.startswith("posenc/"):
                places += (f"client/include/{name}",)
            if not any(tree.exists(os.path.normpath(place)) for place in places):
                yield f"{path}: names {name}, which is not there"


def rpcs_have_tests(tree):
    tests = [path for path in tree.files(".cc", ".py", ".h")
             if path.startswith(("tests/unit/rpc/", "tests/integration/"))]
    text = "\n".join(tree.text(path) for path in tests)
    for path in tree.files(".proto"):
        for rpc in re.findall(r"^\s*rpc\s+(\w+)", tree.text(path), re.M):
            if not re.search(rf"\b{rpc}\b", text):
                yield f"{path}: no test in tests/unit/rpc or tests/integration names {rpc}"


def sources_are_listed(tree):
    """Every source stands in the CMakeLists.txt of its folder or of one above it."""
    for path in tree.files(".cc", ".proto"):
        parts = path.split("/")
        for depth in range(len(parts) - 1, 0, -1):
            folder, name = "/".join(parts[:depth]), "/".join(parts[depth:])
            lists = f"{folder}/CMakeLists.txt"
            if tree.exists(lists) and re.search(rf"(?<![\w/.-]){re.escape(name)}(?![\w.-])", tree.text(lists)):
                break
        else:
            yield f"{path}: no CMakeLists.txt lists it"


def words(tree):
    suffixes = (".h", ".cc", ".py", ".sh", ".cmake", ".txt", ".proto", ".md", ".yaml", ".yml", ".json")
    extra = [name for name in ("README.md", "Dockerfile", "CMakeLists.txt") if tree.exists(name)]
    for path in tree.files(*suffixes) + extra:
        for number, line in enumerate(tree.lines(path), 1):
            if any(word.search(line) for word in FORBIDDEN_WORDS):
                yield f"{path}:{number}: a word that has no place in the project: {line.strip()}"
            if UNFINISHED_MARKS.search(line):
                yield f"{path}:{number}: a mark of something unfinished: {line.strip()}"


CHECKS = [arrows, top_level, file_budgets, folder_budgets, function_budgets, include_circles, documents_name_files,
          rpcs_have_tests, sources_are_listed, words]
