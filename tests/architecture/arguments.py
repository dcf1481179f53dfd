"""The arguments that ctest hands to the suites of this folder."""

import argparse
import sys
import unittest

ARGUMENTS = argparse.Namespace(root=None, protoc="protoc")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", required=True)
    parser.add_argument("--protoc", default="protoc")
    _, rest = parser.parse_known_args(namespace=ARGUMENTS)
    unittest.main(module="__main__", argv=[sys.argv[0]] + rest, verbosity=2)
