// Parts of tables as Python writes them: rows=range(0, 128), positions=[5, 1, 5], columns=slice(0, 32).
//
// Threads: the calling one, which holds the GIL. Errors: WrongArgument and InvalidArgument are raised.

#ifndef POSENC_CLIENT_PYTHON_BINDING_SELECTIONS_H_
#define POSENC_CLIENT_PYTHON_BINDING_SELECTIONS_H_

#include <string>

#include "posenc/specs.h"
#include "pybind11/pybind11.h"

namespace posenc::python {

// Reads rows, columns, heads or keys: a slice or a range without steps, or a pair (begin, end); begin None
// is 0, end None the table's end.
Range RangeFromPython(const std::string& name, pybind11::handle object);

// Reads positions: a sequence, an array or a tensor of integers; of numbers, one at least no integer, for
// tables that take real positions; two-dimensional with one row of coordinates for each position, for tables
// of several axes.
void PositionsFromPython(pybind11::handle object, Selection& selection);

// Reads what is not None.
Selection SelectionFromPython(const pybind11::object& rows, const pybind11::object& positions,
                              const pybind11::object& columns, const pybind11::object& heads,
                              const pybind11::object& keys);

}  // namespace posenc::python

#endif  // POSENC_CLIENT_PYTHON_BINDING_SELECTIONS_H_
