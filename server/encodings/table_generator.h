// A table's numbers: what a normalised spec becomes.
//
// A generator holds what all rows share (frequencies, phasors of a tile of rows) and writes any rows of
// its table, straight into memory that goes on the wire. Same spec, same bytes: on every call, for every
// split of the rows, on every CPU.
//
// Threads:   immutable after MakeTableGenerator; any method, any thread, any time.
// Ownership: callers hold it through shared_ptr; the memory written to is the caller's.
// Accuracy:  kExact arithmetic: F64, F32, F16 and BF16 are correctly rounded (to nearest, ties to even) at
//            every position within ±2^53. tests/unit/encodings and tests/golden assert this.

#ifndef POSENC_SERVER_ENCODINGS_TABLE_GENERATOR_H_
#define POSENC_SERVER_ENCODINGS_TABLE_GENERATOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/core/specs/spec.h"
#include "server/core/table_shape.h"
#include "server/core/tensor_catalog.h"

namespace posenc {

// What a caller may want to know about a table besides its rows.
struct TableFacts {
  std::vector<double> inverse_frequencies;  // rounded to double; empty for ALiBi
  std::vector<double> slopes;               // ALiBi only, rounded to double
  std::vector<int32_t> axis_of_pair;        // rotary tables with several position axes
  double magnitude = 1.0;       // factor on cos and sin that is already in the table
  double softmax_scale = 1.0;   // factor that the model must put on its scores besides 1/sqrt(head_dim)
  std::string error_bound;      // e.g. "correctly rounded (0.5 ulp)"
  std::vector<std::string> notes;
};

class TableGenerator {
 public:
  virtual ~TableGenerator() = default;

  virtual const TableShape& shape() const = 0;
  virtual const TableFacts& facts() const = 0;

  // Bytes that this object itself keeps (frequencies, phasors), for the memory budget.
  virtual size_t footprint_bytes() const = 0;

  // Writes rows [first_row, first_row + row_count) of every tensor. out[t] has row_count · row_bytes of
  // tensor t; no alignment is needed, 64 bytes are fastest.
  // Requires: the rows lie within the table; out.size() is the number of tensors.
  virtual void Generate(int64_t first_row, int64_t row_count,
                        std::span<std::byte* const> out) const = 0;

  // Writes one row of every tensor for each position, in the order given; a position is
  // shape().position_axes coordinates next to each other. Positions may lie outside of the rows, within
  // shape().positions_begin … positions_end, and are whole numbers unless shape().real_positions.
  // Requires: row_kind is kPositions.
  virtual void GenerateAt(std::span<const double> positions,
                          std::span<std::byte* const> out) const = 0;
};

// Returns the generator of a spec that is normalised and bound to `catalog` (normalize.h). Costs
// microseconds for a rotary table, up to some milliseconds for the widest. The catalog is not kept, its
// tensors' owners are.
// Errors: InvalidArgument for a spec that is not normalised and not valid, and as
// CheckKernelTargetOfEnvironment; as BindTensors; Unimplemented for what is not served, named.
absl::StatusOr<std::shared_ptr<const TableGenerator>> MakeTableGenerator(
    const TableSpec& normalized, const TensorCatalog& catalog = EmptyCatalog());

// Names the instruction set that the kernels use: "AVX2", "AVX3", "SSE4", "SCALAR", …
std::string KernelTarget();

// Forces the kernels onto one target (see KernelTarget); the environment variable POSENC_KERNEL_TARGET
// does the same at start. For tests and support: the bytes are the same on all targets.
// Errors: InvalidArgument that lists the targets of this CPU. Call it before generating.
absl::Status ForceKernelTarget(absl::string_view name);

// Errors: InvalidArgument when POSENC_KERNEL_TARGET names no target of this CPU. MakeTableGenerator
// returns it too, so that a misspelt name cannot go unnoticed.
absl::Status CheckKernelTargetOfEnvironment();

// Returns the targets that this CPU can run, best first; "SCALAR" is always the last one.
std::vector<std::string> SupportedKernelTargets();

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_TABLE_GENERATOR_H_
