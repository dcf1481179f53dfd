#!/usr/bin/env python3
"""Writes the package's types: a template, and the families' functions from the description of their fields.

    make_stubs.py TEMPLATE OUTPUT     with the built package on PYTHONPATH
"""

import pathlib
import sys

from posenc import _core

COMMON = ["dtype: Optional[_Dtype] = None", 'arithmetic: _Arithmetic = "exact"']


def parameters(family):
    """The keywords of a family, those that are required first."""
    required, others = [], []
    for keyword in _core._keywords(family):
        if keyword["required"]:
            required.append(f"{keyword['name']}: {keyword['type']}")
        else:
            default = repr(keyword["default"])
            others.append(f"{keyword['name']}: {keyword['type']} = {default if len(default) < 40 else '...'}")
    return required + others + COMMON


def function(family, first, returned, indent, *more):
    """The declaration of one function."""
    lines = [*first, "*", *parameters(family), *more]
    body = "".join(f"{indent}    {line},\n" for line in lines)
    return f"{indent}def {family}(\n{body}{indent}) -> {returned}: ...\n"


def main(template, output):
    families = _core._families()
    methods = [function(family, ["self"], "Table", "    ", "timeout: Optional[float] = None") for family in families]
    coroutines = [method.replace("    def ", "    async def ", 1) for method in methods]
    functions = [function(family, [], "Spec", "") for family in families]
    text = pathlib.Path(template).read_text(encoding="utf-8")
    for mark, made in (("METHODS", methods), ("COROUTINES", coroutines), ("FUNCTIONS", functions)):
        text = text.replace(f"@{mark}@\n", "".join(made))
    pathlib.Path(output).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
