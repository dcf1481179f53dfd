#include "client/python/binding/tables.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/python/binding/dlpack.h"

namespace posenc::python {
namespace {

namespace py = pybind11;

// How the buffer protocol and DLPack write an element type. BF16 has no letter: its bits are 'H', uint16.
struct ElementForms {
  const char* format;
  dlpack::TypeCode code;
};

ElementForms FormsOf(ElementType type) {
  switch (type) {
    case ElementType::kF64:
      return {"d", dlpack::TypeCode::kFloat};
    case ElementType::kF16:
      return {"e", dlpack::TypeCode::kFloat};
    case ElementType::kBF16:
      return {"H", dlpack::TypeCode::kBFloat};
    case ElementType::kComplex64:
      return {"Zf", dlpack::TypeCode::kComplex};
    case ElementType::kComplex128:
      return {"Zd", dlpack::TypeCode::kComplex};
    case ElementType::kI32:
      return {"i", dlpack::TypeCode::kInt};
    case ElementType::kF32:
    case ElementType::kUnspecified:
      break;
  }
  return {"f", dlpack::TypeCode::kFloat};
}

py::buffer_info BufferOf(const Tensor& tensor) {
  const TensorInfo& info = *tensor.info;
  const auto element_bytes = static_cast<py::ssize_t>(ElementSizeBytes(info.element_type));
  std::vector<py::ssize_t> shape(info.shape.begin(), info.shape.end());
  std::vector<py::ssize_t> strides(shape.size(), element_bytes);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return {tensor.data(),          element_bytes,      FormsOf(info.element_type).format,
          static_cast<py::ssize_t>(shape.size()), std::move(shape),   std::move(strides),
          /*readonly=*/true};
}

// What a DLPack capsule owns.
template <typename Managed>
struct Export {
  Managed managed = {};
  Tensor tensor = {};
  std::vector<int64_t> shape = {};
};

template <typename Managed>
py::capsule MakeCapsule(const Tensor& tensor, const char* name) {
  auto owner = std::make_unique<Export<Managed>>();
  owner->tensor = tensor;
  owner->shape = tensor.info->shape;
  dlpack::Tensor& out = owner->managed.tensor;
  out.data = tensor.data();
  out.dimensions = static_cast<int32_t>(owner->shape.size());
  out.shape = owner->shape.data();
  out.type.code = FormsOf(tensor.info->element_type).code;
  out.type.bits = static_cast<uint8_t>(8 * ElementSizeBytes(tensor.info->element_type));
  owner->managed.context = owner.get();
  owner->managed.deleter = [](Managed* self) { delete static_cast<Export<Managed>*>(self->context); };
  if constexpr (requires { owner->managed.flags; }) owner->managed.flags = dlpack::kReadOnly;
  // A consumer renames the capsule and owns what it holds from then on; one that nobody took frees it. The
  // name is part of the protocol, so that the capsule is made here and not by pybind11.
  PyObject* const capsule = PyCapsule_New(&owner->managed, name, [](PyObject* object) {
    for (const char* unused : {"dltensor", "dltensor_versioned"}) {
      if (!PyCapsule_IsValid(object, unused)) continue;
      auto* const managed = static_cast<Managed*>(PyCapsule_GetPointer(object, unused));
      managed->deleter(managed);
    }
  });
  if (capsule == nullptr) throw py::error_already_set();
  owner.release();
  return py::reinterpret_steal<py::capsule>(capsule);
}

py::capsule ToDlpack(const Tensor& tensor, const py::object& stream, const py::object& max_version,
                     const py::object&, const py::object& copy) {
  if (!stream.is_none()) throw py::buffer_error("stream must be None: the numbers are in this process's memory");
  if (copy.equal(py::bool_(true))) throw py::buffer_error("copy must not be True: copy what you made of it");
  if (!max_version.is_none() && max_version.cast<py::tuple>()[0].cast<int>() >= 1) {
    return MakeCapsule<dlpack::ManagedVersioned>(tensor, "dltensor_versioned");
  }
  return MakeCapsule<dlpack::Managed>(tensor, "dltensor");
}

Tensor Named(const Table& table, const std::string& name) {
  const TensorInfo* info = table.Find(name);
  if (info == nullptr) {
    std::vector<std::string> names;
    for (const TensorInfo& tensor : table.tensors()) names.push_back(tensor.name);
    throw py::key_error(absl::StrCat("'", name, "' is no tensor of this table; it has: ",
                                     absl::StrJoin(names, ", ")));
  }
  return {table, info};
}

std::string Text(const TensorInfo& info) {
  return absl::StrCat(info.name, " ", ElementTypeName(info.element_type), " [",
                      absl::StrJoin(info.shape, ", "), "]");
}

std::string NameText(ElementType type) { return std::string(ElementTypeName(type)); }

py::tuple Names(const Table& table) {
  py::tuple names(table.tensors().size());
  for (size_t i = 0; i < table.tensors().size(); ++i) names[i] = table.tensors()[i].name;
  return names;
}

void DefineTensor(py::module_& module) {
  py::class_<Tensor>(module, "Tensor", py::buffer_protocol(),
                     R"(One tensor of a table; read-only memory that it keeps alive.

Whatever takes a buffer takes it without a copy: numpy.asarray(tensor), memoryview(tensor). DLPack as well:
torch.from_dlpack(tensor). The numbers are shared with all who hold this table, in this process and, mapped,
in others: a library without read-only arrays (torch) must not write to them.)")
      .def_buffer(&BufferOf)
      .def_property_readonly("name", [](const Tensor& self) { return self.info->name; },
                             "\"cos\", \"sin\", \"table\", \"bias\", \"slopes\", ...")
      .def_property_readonly("shape", [](const Tensor& self) { return ShapeTuple(self.info->shape); },
                             "Dimensions, row-major without gaps.")
      .def_property_readonly("dtype", [](const Tensor& self) { return NameText(self.info->element_type); },
                             "\"F64\", \"F32\", \"F16\", \"BF16\", \"C64\", \"C128\" or \"I32\".")
      .def_property_readonly(
          "nbytes", [](const Tensor& self) { return self.table.bytes(self.info->name).size(); },
          "Bytes of all elements.")
      .def("__dlpack__", &ToDlpack, py::kw_only(), py::arg("stream") = py::none(),
           py::arg("max_version") = py::none(), py::arg("dl_device") = py::none(), py::arg("copy") = py::none(),
           "Returns a DLPack capsule of the numbers, without a copy.")
      .def("__dlpack_device__", [](const Tensor&) { return py::make_tuple(dlpack::kCpu, 0); },
           "Returns (1, 0): this process's memory.")
      .def("__len__", [](const Tensor& self) -> int64_t {
        if (self.info->shape.empty()) throw py::type_error("a tensor without dimensions has no length");
        return self.info->shape[0];
      })
      .def("__repr__", [](const Tensor& self) { return absl::StrCat("<posenc.Tensor ", Text(*self.info), ">"); });
}

}  // namespace

void* Tensor::data() const {
  static std::byte nothing[64];
  const std::span<const std::byte> bytes = table.bytes(info->name);
  return bytes.empty() ? nothing : const_cast<std::byte*>(bytes.data());
}

py::tuple ShapeTuple(const std::vector<int64_t>& shape) {
  py::tuple tuple(shape.size());
  for (size_t i = 0; i < shape.size(); ++i) tuple[i] = shape[i];
  return tuple;
}

void DefineTables(py::module_& module) {
  DefineTensor(module);
  py::class_<Table>(module, "Table", R"(A table, or a slice of one: a mapping from names to tensors.

The numbers live as long as the table, one of its tensors or an array made of one. They never change.)")
      .def_property_readonly("key", [](const Table& self) { return self.key(); },
                             "64 hex digits: the identity of the whole table that this is (a slice of).")
      .def_property_readonly("dtype", [](const Table& self) { return NameText(self.element_type()); },
                             "Of the elements: \"F32\", \"BF16\", ...")
      .def_property_readonly("nbytes", &Table::size_bytes, "Bytes of all tensors together.")
      .def("keys", &Names, "Names of the tensors, in the order of the wire.")
      .def("__getitem__", &Named, py::arg("name"), "Returns a tensor. Errors: KeyError that lists the names.")
      .def("__contains__", [](const Table& self, const std::string& name) { return self.Find(name) != nullptr; })
      .def("__len__", [](const Table& self) { return self.tensors().size(); })
      .def("__iter__", [](const Table& self) { return py::iter(Names(self)); })
      .def("__repr__", [](const Table& self) {
        return absl::StrCat("<posenc.Table ", self.key().substr(0, 12), ": ",
                            absl::StrJoin(self.tensors(), ", ", [](std::string* out, const TensorInfo& info) {
                              absl::StrAppend(out, Text(info));
                            }), ">");
      });
}

}  // namespace posenc::python
