// Table and Tensor in Python: numbers that other libraries see without a copy, by the buffer protocol and by
// DLPack. Whoever holds a buffer holds the table's memory.

#ifndef POSENC_CLIENT_PYTHON_BINDING_TABLES_H_
#define POSENC_CLIENT_PYTHON_BINDING_TABLES_H_

#include "posenc/table.h"
#include "pybind11/pybind11.h"

namespace posenc::python {

// One tensor of a table, which it keeps alive.
struct Tensor {
  Table table = {};
  const TensorInfo* info = nullptr;  // the table's

  void* data() const;  // never written to; not null for an empty tensor either
};

void DefineTables(pybind11::module_& module);

// Shapes are tuples in Python.
pybind11::tuple ShapeTuple(const std::vector<int64_t>& shape);

}  // namespace posenc::python

#endif  // POSENC_CLIENT_PYTHON_BINDING_TABLES_H_
