// The structs of DLPack, the interface by which array libraries hand memory to each other
// (dmlc.github.io/dlpack). Only what this library needs: tensors in this process's memory.
//
// Version 1 can say that memory is read-only; before it there is nothing but the caller's word.

#ifndef POSENC_CLIENT_PYTHON_BINDING_DLPACK_H_
#define POSENC_CLIENT_PYTHON_BINDING_DLPACK_H_

#include <cstdint>

namespace posenc::python::dlpack {

inline constexpr int32_t kCpu = 1;
inline constexpr uint64_t kReadOnly = 1;

enum class TypeCode : uint8_t { kInt = 0, kFloat = 2, kBFloat = 4, kComplex = 5 };

struct Device {
  int32_t type = kCpu;
  int32_t id = 0;
};

struct DataType {
  TypeCode code = TypeCode::kFloat;
  uint8_t bits = 32;
  uint16_t lanes = 1;
};

struct Tensor {
  void* data = nullptr;
  Device device = {};
  int32_t dimensions = 0;
  DataType type = {};
  int64_t* shape = nullptr;
  int64_t* strides = nullptr;  // elements; null: row-major without gaps
  uint64_t byte_offset = 0;
};

// A capsule "dltensor" holds one of these.
struct Managed {
  Tensor tensor = {};
  void* context = nullptr;
  void (*deleter)(Managed* self) = nullptr;
};

struct Version {
  uint32_t major = 1;
  uint32_t minor = 0;
};

// A capsule "dltensor_versioned" holds one of these.
struct ManagedVersioned {
  Version version = {};
  void* context = nullptr;
  void (*deleter)(ManagedVersioned* self) = nullptr;
  uint64_t flags = 0;
  Tensor tensor = {};
};

}  // namespace posenc::python::dlpack

#endif  // POSENC_CLIENT_PYTHON_BINDING_DLPACK_H_
