"""The source tree obeys every check."""

import unittest

import arguments
import checks
from source_tree import SourceTree


class TreeTest(unittest.TestCase):
    maxDiff = None

    def test_tree_obeys_every_check(self):
        tree = SourceTree(arguments.ARGUMENTS.root)
        self.assertGreater(len(tree.files(".h", ".cc")), 50, "hardly any source found: wrong root?")
        for check in checks.CHECKS:
            with self.subTest(check=check.__name__):
                found = list(check(tree))
                self.assertEqual(found, [], "\n" + "\n".join(found))


if __name__ == "__main__":
    arguments.main()
