"""The repository as the checks see it: files by kind, and functions of a C++ source with their length."""

import pathlib
import re

ROOTS = ("proto", "server", "client", "tests", "deploy")
SKIPPED = ("data", "__pycache__")


class SourceTree:
    """A tree of files under `root`; paths are relative to it and use forward slashes."""

    def __init__(self, root):
        self.root = pathlib.Path(root)

    def files(self, *suffixes):
        found = []
        for top in ROOTS:
            for path in sorted((self.root / top).rglob("*")):
                relative = path.relative_to(self.root)
                if path.is_file() and path.suffix in suffixes and not set(relative.parts) & set(SKIPPED):
                    found.append(relative.as_posix())
        return found

    def text(self, path):
        return (self.root / path).read_text(encoding="utf-8")

    def lines(self, path):
        return self.text(path).splitlines()

    def exists(self, path):
        return (self.root / path).exists()


def strip_noise(text):
    """Returns C++ text with comments, strings and characters blanked, line breaks kept."""
    pattern = re.compile(
        r'R"(?P<tag>[^()\s\\]{0,16})\(.*?\)(?P=tag)"'
        r'|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)

    def blank(match):
        return re.sub(r"[^\n]", " ", match.group(0))

    # A digit separator (1'000) is no character literal.
    return pattern.sub(blank, re.sub(r"(?<=\d)'(?=\d)", "_", text))


def functions(text):
    """Yields (name, first line, line count) of every function body.

    A body is an opening brace behind a closing parenthesis (and qualifiers, a trailing return type or
    member initialisers); control statements are no functions, and lambdas count to their function.
    """
    clean = strip_noise(text)
    clean = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: re.sub(r"[^\n]", " ", m.group(0)), clean,
                   flags=re.M)
    depth_of_function = None
    start = name = None
    depth = 0
    head_begin = 0
    for at, char in enumerate(clean):
        if char == "{":
            head = clean[head_begin:at]
            if depth_of_function is None and (found := _function_name(head)):
                depth_of_function, name = depth, found
                start = clean.count("\n", 0, head_begin + len(head) - len(head.lstrip())) + 1
            depth += 1
            head_begin = at + 1
        elif char == "}":
            depth -= 1
            if depth == depth_of_function:
                yield name, start, clean.count("\n", 0, at) + 2 - start
                depth_of_function = None
            head_begin = at + 1
        elif char == ";":
            head_begin = at + 1


def _function_name(head):
    if re.search(r"\b(?:namespace|class|struct|enum|union)\b[^()]*$", head) or "(" not in head:
        return None
    if re.search(r"=\s*(?:\w[\w:<>, ]*)?$", head):
        return None
    match = re.search(r"([~\w:]+|operator[^\s(]+)\s*\(", head)
    if not match or match.group(1) in ("if", "for", "while", "switch", "catch", "return"):
        return None
    return match.group(1)
