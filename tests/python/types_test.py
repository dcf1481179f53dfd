"""The package's types say what the package has."""

import ast
import os
import pathlib
import unittest

import posenc

STUBS = pathlib.Path(posenc.__file__).with_name("__init__.pyi")


def public(names):
    return {name for name in names if not name.startswith("_")}


class TypesTest(unittest.TestCase):
    def setUp(self):
        self.tree = ast.parse(STUBS.read_text())
        self.classes = {node.name: node for node in self.tree.body if isinstance(node, ast.ClassDef)}

    def test_the_package_is_typed(self):
        self.assertTrue(os.path.exists(STUBS.with_name("py.typed")))

    def test_every_class_has_the_methods_that_its_type_says(self):
        exceptions = set(posenc.errors.__all__)
        self.assertEqual(set(self.classes), {name for name in dir(posenc) if isinstance(getattr(posenc, name), type)}
                         - exceptions)
        mapping = {"get", "items", "keys", "values"}
        for name, node in self.classes.items():
            declared = public(entry.name for entry in node.body
                              if isinstance(entry, (ast.FunctionDef, ast.AsyncFunctionDef)))
            inherited = mapping if any("Mapping" in ast.unparse(base) for base in node.bases) else set()
            with self.subTest(name=name):
                self.assertEqual(public(dir(getattr(posenc, name))), declared | inherited)

    def test_functions_of_families_have_the_keywords_of_their_fields(self):
        functions = {node.name: node for node in self.tree.body if isinstance(node, ast.FunctionDef)}
        self.assertEqual(set(functions), {"local", *posenc.FAMILIES})
        keywords = {argument.arg for argument in functions["rope"].args.kwonlyargs}
        self.assertLess({"head_dim", "base", "scaling", "factor", "xpos_centre", "grid_sizes", "dtype"}, keywords)
        self.assertLessEqual(set(posenc.rope(head_dim=8).fields) - {"dtype"}, keywords)

    def test_everything_has_a_docstring(self):
        for name in posenc.__all__:
            thing = getattr(posenc, name)
            self.assertTrue(name == "FAMILIES" or thing.__doc__, name)
            for member in public(vars(thing)) if isinstance(thing, type) else ():
                if callable(getattr(thing, member)) or isinstance(vars(thing)[member], property):
                    self.assertTrue(getattr(thing, member).__doc__ or name not in self.classes, f"{name}.{member}")


if __name__ == "__main__":
    unittest.main()
