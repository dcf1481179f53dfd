// A slice that this process computes: the same plan and the same generator as in the service.
//
// Threads: immutable; any thread.

#ifndef POSENC_CLIENT_LOCAL_LOCAL_SLICE_H_
#define POSENC_CLIENT_LOCAL_LOCAL_SLICE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "posenc/connection.h"
#include "server/core/selection.h"
#include "server/core/tensor_catalog.h"
#include "server/encodings/table_generator.h"

namespace posenc {

// Returns what the service says of the slice `plan` of a table of that key and shape.
SliceInfo SliceInfoOf(std::string key, const TableShape& shape, const SlicePlan& plan);

class LocalSlice {
 public:
  // Checks as the service does, and binds the spec to `catalog`, which is not kept. Errors: those of the
  // service, with the same fields.
  static absl::StatusOr<LocalSlice> Make(const TableSpec& spec, const Selection& selection,
                                         const TensorCatalog& catalog = EmptyCatalog());

  const TableSpec& spec() const { return spec_; }  // normalised and bound
  const TableGenerator& generator() const { return *generator_; }
  const SliceInfo& info() const { return info_; }
  int64_t row_bytes(size_t tensor) const;  // of the answer

  // Writes rows [first_row, first_row + row_count) of the answer to the front of each destination.
  // Requires: the rows are the answer's, the destinations large enough.
  void Generate(int64_t first_row, int64_t row_count,
                std::span<const std::span<std::byte>> destinations) const;

  // Returns the CRC-32C of rows at the front of each span, one tensor after the other.
  uint32_t ChecksumOfRows(int64_t row_count, std::span<const std::span<std::byte>> memory) const;

  // Does what StreamParams asks for, chunk by chunk; its spec and selection are those of this slice.
  absl::Status Stream(const StreamParams& params) const;

 private:
  using Pointers = std::vector<std::byte*>;

  void GenerateWholeRows(int64_t first_row, int64_t row_count, Pointers out) const;
  void GenerateColumns(int64_t first_row, int64_t row_count, Pointers out) const;
  absl::Status StreamChecksums(const StreamParams& params) const;
  int64_t RowsPerChunk() const;

  TableSpec spec_;
  std::shared_ptr<const TableGenerator> generator_;
  SlicePlan plan_;
  SliceInfo info_;
};

}  // namespace posenc

#endif  // POSENC_CLIENT_LOCAL_LOCAL_SLICE_H_
