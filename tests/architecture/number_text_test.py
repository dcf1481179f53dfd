"""No library makes text of a double by absl::StrCat, StrAppend or StrJoin, which keep six digits: a message would
speak of another number than the one that was given (server/core/shortest_decimal.h). What absl rounds with is
inlined into every caller as a reference to one function, which nm finds."""

import subprocess
import sys

ROUNDS = "SixDigitsToBuffer"
# Texts of infinities and NaN alone.
ALLOWED = {"gguf.cc.o"}


def rounding_objects(nm, library):
    """The object files of a static library that refer to absl's rounding."""
    lines = subprocess.run([nm, "--print-file-name", library], check=True, capture_output=True, text=True).stdout
    return {line.split(":")[1] for line in lines.splitlines() if ROUNDS in line}


def main(nm, libraries):
    wrong = [f"{library}: {name}" for library in libraries for name in sorted(rounding_objects(nm, library) - ALLOWED)]
    for text in wrong:
        print(f"{text} rounds a double to six digits; use ShortestDecimal, or a format that says so")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
