// Specs from keyword arguments and back, made from the description of their fields
// (server/core/specs/field.h): a new family or field has its keywords by itself. Keywords are the CLI's flags
// with underscores:
//
//   a number, name, list, switch   max_len=99   order="sin-cos"   axes_sections=[16, 24, 24]   masked=True
//   a record                       the record's name before its fields': grid_sizes, xpos_centre; giving one
//                                  makes the record
//   a variant                      its own keyword names the alternative, whose fields have no prefix:
//                                  scaling="yarn", factor=4.0. A field that is all an alternative has makes it
//                                  the one: inverse_frequencies=[1.0, 0.5]
//
// None is a keyword that was not given; for a field that may be absent, and for scaling, it is none.
// Ranges are not checked here but where tables are made, so that there is one answer to a wrong value.
//
// Threads: the calling one, which holds the GIL. Errors: WrongArgument is raised.

#ifndef POSENC_CLIENT_PYTHON_BINDING_SPEC_ARGUMENTS_H_
#define POSENC_CLIENT_PYTHON_BINDING_SPEC_ARGUMENTS_H_

#include <string>

#include "posenc/specs.h"
#include "pybind11/pybind11.h"

namespace posenc::python {

// Returns the spec that keywords ask for; `dtype` and `arithmetic` among them.
TableSpec SpecFromArguments(const std::string& family, const pybind11::dict& arguments);

// Returns a spec with some of its fields set anew.
TableSpec SpecWithArguments(TableSpec spec, const pybind11::dict& arguments);

// Returns the keywords that ask for a spec: all of them, or only those that are not at their defaults.
pybind11::dict ArgumentsOf(const TableSpec& spec, bool with_defaults);

// Returns an element type from its name in any of the usual spellings, a NumPy or a torch dtype.
ElementType ElementTypeFromPython(pybind11::handle dtype);

// Returns the names of all families, each the name of a function that makes its spec.
pybind11::list FamilyNames();

}  // namespace posenc::python

#endif  // POSENC_CLIENT_PYTHON_BINDING_SPEC_ARGUMENTS_H_
