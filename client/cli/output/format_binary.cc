// The formats for programs: npy, safetensors, raw.

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/flags/field_text.h"
#include "client/cli/output/formats.h"
#include "nlohmann/json.hpp"

namespace posenc::cli {
namespace {

absl::string_view NpyType(ElementType type) {
  switch (type) {
    case ElementType::kF64:
      return "<f8";
    case ElementType::kF32:
      return "<f4";
    case ElementType::kF16:
      return "<f2";
    case ElementType::kBF16:
      return "<V2";
    case ElementType::kComplex64:
      return "<c8";
    case ElementType::kComplex128:
      return "<c16";
    case ElementType::kI32:
      return "<i4";
    case ElementType::kUnspecified:
      break;
  }
  return "";
}

void WriteBytes(std::span<const std::byte> data, std::ostream& out) {
  out.write(reinterpret_cast<const char*>(data.data()), static_cast<std::streamsize>(data.size()));
}

}  // namespace

void WriteNpy(const Table& table, const TensorInfo& info, std::ostream& out) {
  const std::string dims = absl::StrJoin(info.shape, ", ");
  std::string header = absl::StrCat("{'descr': '", NpyType(info.element_type),
                                    "', 'fortran_order': False, 'shape': (", dims,
                                    info.shape.size() == 1 ? ",), }" : "), }");
  // Magic, version and length are 10 bytes; the data begin at a multiple of 64.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header.push_back('\n');
  out.write("\x93NUMPY\x01\x00", 8);
  out.put(static_cast<char>(header.size() % 256)).put(static_cast<char>(header.size() / 256));
  out << header;
  WriteBytes(table.bytes(info.name), out);
}

void WriteRaw(const Table& table, std::ostream& out) {
  for (const TensorInfo& info : table.tensors()) {
    WriteBytes(table.bytes(info.name), out);
  }
}

// Eight bytes of the header's length, the header, then the tensors one after the other.
void WriteSafetensors(const Table& table, const TableSpec& spec, std::ostream& out) {
  nlohmann::ordered_json header;
  header["__metadata__"] = {{"posenc.key", table.key()}, {"posenc.spec", SpecCommand(spec)}};
  uint64_t offset = 0;
  for (const TensorInfo& info : table.tensors()) {
    const uint64_t end = offset + table.bytes(info.name).size();
    header[info.name] = {{"dtype", std::string(ElementTypeName(info.element_type))},
                         {"shape", info.shape},
                         {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');  // keeps the tensors aligned
  const uint64_t size = text.size();
  out.write(reinterpret_cast<const char*>(&size), sizeof(size));
  out << text;
  for (const TensorInfo& info : table.tensors()) WriteBytes(table.bytes(info.name), out);
}

}  // namespace posenc::cli
