// The forms in which numbers leave the program.
//
//   table  for people: shape, range, the numbers with the middle left out where there are many
//   json   {"key": …, "tensors": [{"name", "element_type", "shape", "data"}]}; data is nested as the shape
//          is, complex numbers are [real, imaginary]; numbers are the shortest that give the element
//          back; JSON has no infinity, so that it is the string "-Infinity" (as in protobuf's JSON);
//          a tensor without elements is [], whatever its shape
//   csv    one line for each row: its numbers (row, position, head, query), then every tensor's columns
//   npy    one tensor, format version 1.0; BF16, which NumPy lacks, as '<V2' like ml_dtypes writes it
//   safetensors  all tensors; the metadata have the table's key and the command that asks for it
//   raw    the tensors' bytes one after the other, little-endian, nothing else
//
// Threads: pure functions that append to a stream.

#ifndef POSENC_CLIENT_CLI_OUTPUT_FORMATS_H_
#define POSENC_CLIENT_CLI_OUTPUT_FORMATS_H_

#include <cstdint>
#include <ostream>
#include <string>

#include "absl/status/statusor.h"
#include "client/cli/output/row_names.h"
#include "posenc/table.h"
#include "server/core/specs/spec.h"

namespace posenc::cli {

enum class Format : uint8_t { kTable, kJson, kCsv, kNpy, kSafetensors, kRaw };

// Errors: InvalidArgument that lists the names.
absl::StatusOr<Format> ParseFormat(const std::string& name);

// The format that a file's name asks for by its ending; the table format without a known one.
Format FormatOfFile(const std::string& path);

// Whether a dimension is 0. The others may be huge then: 2^53 rows without columns take no memory.
bool HasNoElements(const TensorInfo& info);

// One tensor as rows of real numbers; no rows where it has no elements.
struct Grid {
  const TensorInfo& info;
  const std::byte* data = nullptr;
  ElementType part_type = ElementType::kF32;
  int64_t rows = 0;
  int64_t columns = 0;  // parts of one row
  const std::byte* At(int64_t row, int64_t column) const;
  // "7" for one dimension, "7.1" for two, "7.im" for complex numbers.
  std::string ColumnName(int64_t column, int64_t first_column) const;
};
Grid GridOf(const Table& table, const TensorInfo& info, const RowNames& names);

struct TextLayout {
  int width_columns = 100;  // of the terminal
  bool full = false;        // leaves nothing out
};
void WriteTable(const Table& table, const RowNames& names, const TextLayout& layout, std::ostream& out);
void WriteJson(const Table& table, std::ostream& out);
void WriteCsv(const Table& table, const RowNames& names, std::ostream& out);
void WriteNpy(const Table& table, const TensorInfo& info, std::ostream& out);
// Requires: no tensor of C128, which the format lacks.
void WriteSafetensors(const Table& table, const TableSpec& spec, std::ostream& out);
void WriteRaw(const Table& table, std::ostream& out);

}  // namespace posenc::cli

#endif  // POSENC_CLIENT_CLI_OUTPUT_FORMATS_H_
