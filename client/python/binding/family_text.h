// Docstrings of the functions that are made from a family's fields.

#ifndef POSENC_CLIENT_PYTHON_BINDING_FAMILY_TEXT_H_
#define POSENC_CLIENT_PYTHON_BINDING_FAMILY_TEXT_H_

#include <string>

namespace posenc::python {

// Returns the text for help(): what is returned ("Spec" or "Table"), and one line for each keyword.
// Requires: `family` is a family's name.
std::string FamilyText(const std::string& family, const std::string& returned);

}  // namespace posenc::python

#endif  // POSENC_CLIENT_PYTHON_BINDING_FAMILY_TEXT_H_
