"""Positional-encoding tables, exact to the last bit: from a posenc-server, or computed in this process.

    import posenc

    client = posenc.Client("localhost:50051")            # or posenc.local()
    rope = client.rope(head_dim=128, max_len=131072, base=500000.0, dtype="bf16")
    cos, sin = rope["cos"].numpy(), rope["sin"].torch()  # no copy
    part = client.slice(posenc.rope(head_dim=128), rows=range(0, 128))

    model = client.model("config.json", runtime="vllm")  # named tables with spec, pairing, layers, origins
    table = client.get(model["main"].spec.replace(dtype="bf16", layout="cos-sin"))

The families (`rope`, `sinusoidal`, `alibi`, `learned`, ...) take the fields of their specs as keywords, under the
names of the CLI's flags; help(posenc.rope) lists them. Errors are exceptions of posenc.errors, with the code,
the field, the value and what is allowed.
"""

import collections.abc as _abc
import json as _json
import os as _os
import pkgutil as _pkgutil
import weakref as _weakref

# Stubs that were generated from the service's protos are posenc.v1; they may stand in another folder.
__path__ = _pkgutil.extend_path(__path__, __name__)

from posenc import _core
from posenc import aio
from posenc import errors
from posenc.aio import AsyncClient
from posenc._core import Client, Description, ModelTable, ModelTables, Origin, Spec, Table, Tensor, __version__, local
from posenc.errors import *  # noqa: F403

FAMILIES = tuple(_core._families())  #: names of the functions that make a Spec, and of Client's methods
for _family in FAMILIES:
    globals()[_family] = getattr(_core, _family)

__all__ = ["AsyncClient", "Client", "Description", "FAMILIES", "ModelTable", "ModelTables", "Origin", "Spec", "Table",
           "Tensor", "errors", "local", *FAMILIES, *errors.__all__]


def _model_texts(file):
    """Returns the text of a config.json and that of a GGUF file's head, one of them empty."""
    if isinstance(file, _abc.Mapping):
        return _json.dumps(dict(file)), ""
    path = _os.fspath(file)
    if path.endswith(".gguf"):
        return "", _core._gguf_json(path)
    if _os.path.isdir(path):
        path = _os.path.join(path, "config.json")
    with open(path, encoding="utf-8") as text:
        return text.read(), ""


def _model(self, file, *, runtime="transformers", effective_length=None, timeout=None):
    """Returns the ModelTables that a model's file means, by a runtime's rules.

    file: path of a config.json, of a folder that has one, or of a GGUF file; or a dict, of a config.json
    runtime: "transformers", "vllm", "llama.cpp", "tensorrt-llm" or "mlx-lm"
    effective_length: length of the sequence that the tables are for, where scaling depends on it

    Errors: InvalidArgument that names the file's key; Unimplemented for what is known but not served; OSError.
    """
    return self._resolve_model(*_model_texts(file), runtime, effective_length, timeout)


def _numpy(self):
    """Returns a read-only NumPy array of the numbers, without a copy.

    BF16 is ml_dtypes.bfloat16 where that package is installed, else the bits as uint16.
    """
    import numpy

    array = numpy.asarray(self)
    if self.dtype == "BF16":
        try:
            import ml_dtypes
        except ImportError:
            return array
        return array.view(ml_dtypes.bfloat16)
    return array


def _torch(self):
    """Returns a torch tensor of the numbers, without a copy; BF16 is torch.bfloat16.

    torch has no read-only tensors: writing to this one is forbidden, and ends the process where the table is
    mapped from a server. Clone it first.
    """
    import torch

    return torch.from_dlpack(self)


_AIO = _weakref.WeakKeyDictionary()  # Client to AsyncClient


def _aio(self):
    """The same calls as coroutines: an AsyncClient of this client's connection, made at the first use."""
    made = _AIO.get(self)
    if made is None:
        made = _AIO.setdefault(self, AsyncClient(self))
    return made


def _values(self):
    """Returns a view of the values, in the order of the keys."""
    return _abc.ValuesView(self)


def _items(self):
    """Returns a view of (name, value)."""
    return _abc.ItemsView(self)


def _get(self, name, default=None):
    """Returns what has the name, or the default."""
    return self[name] if name in self else default


def _add_method(owner, name, function):
    function.__name__, function.__qualname__ = name, f"{owner.__name__}.{name}"
    setattr(owner, name, function)


_add_method(Client, "model", _model)
Client.aio = property(_aio)
_add_method(Tensor, "numpy", _numpy)
_add_method(Tensor, "torch", _torch)
for _mapping in (Table, ModelTables):
    _mapping.values, _mapping.items, _mapping.get = _values, _items, _get
    _abc.Mapping.register(_mapping)
del _family, _mapping
