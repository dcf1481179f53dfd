#include "client/python/binding/selections.h"

#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/python/binding/errors.h"
#include "client/python/binding/python_values.h"

namespace posenc::python {
namespace {

namespace py = pybind11;

[[noreturn]] void Refuse(const std::string& name, py::handle object, const std::string& allowed) {
  const std::string text = py::repr(object).cast<std::string>();
  RaiseWrongArgument(absl::StrCat("selection.", name), text, allowed,
                     absl::StrCat(name, " is ", text, "; allowed: ", allowed));
}

constexpr char kRanges[] = "slice(begin, end), range(begin, end) or a pair (begin, end)";
constexpr char kPositions[] = "integers, numbers, or rows of one integer for each axis; at least one";

}  // namespace

Range RangeFromPython(const std::string& name, py::handle object) {
  py::object begin, end, step = py::none();
  if (PySlice_Check(object.ptr()) || PyRange_Check(object.ptr())) {
    begin = object.attr("start");
    end = object.attr("stop");
    step = object.attr("step");
  } else if (py::isinstance<py::tuple>(object) && py::len(object) == 2) {
    begin = object.cast<py::tuple>()[0];
    end = object.cast<py::tuple>()[1];
  } else {
    Refuse(name, object, kRanges);
  }
  Range range;
  const bool steps = !step.is_none() && !step.equal(py::int_(1));
  if (steps || (!begin.is_none() && !FromPython(begin, range.begin))) Refuse(name, object, kRanges);
  if (!end.is_none() && !FromPython(end, range.end.emplace())) Refuse(name, object, kRanges);
  return range;
}

void PositionsFromPython(py::handle object, Selection& selection) {
  // Arrays and tensors become lists, whose entries are Python's own numbers.
  py::object entries = py::hasattr(object, "tolist") ? object.attr("tolist")()
                                                     : py::reinterpret_borrow<py::object>(object);
  if (!py::isinstance<py::iterable>(entries)) Refuse("positions", object, kPositions);
  const py::list list(entries);
  if (list.empty()) Refuse("positions", object, kPositions);
  if (FromPython(list, selection.positions)) return;
  selection.positions.clear();
  if (FromPython(list, selection.real_positions)) return;
  selection.real_positions.clear();
  std::optional<size_t> axes;
  for (py::handle row : list) {
    std::vector<int64_t> coordinates;
    if (!FromPython(row, coordinates) || coordinates.size() != axes.value_or(coordinates.size())) {
      Refuse("positions", object, kPositions);
    }
    axes = coordinates.size();
    selection.axis_positions.insert(selection.axis_positions.end(), coordinates.begin(), coordinates.end());
  }
}

Selection SelectionFromPython(const py::object& rows, const py::object& positions, const py::object& columns,
                              const py::object& heads, const py::object& keys) {
  Selection selection;
  if (!rows.is_none()) selection.rows = RangeFromPython("rows", rows);
  if (!positions.is_none()) PositionsFromPython(positions, selection);
  if (!columns.is_none()) selection.columns = RangeFromPython("columns", columns);
  if (!heads.is_none()) selection.heads = RangeFromPython("heads", heads);
  if (!keys.is_none()) selection.keys = RangeFromPython("keys", keys);
  return selection;
}

}  // namespace posenc::python
