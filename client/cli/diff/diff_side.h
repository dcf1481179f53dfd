// One side of a comparison: a spec, a model's table, or a file, read row by row.
//
//   "rope --head-dim 128 --server a:50051"   a family with its flags; its own --server or --local, too
//   config.json, config.json@vllm            a model's table, by a runtime's rules
//   x.npy, x.safetensors, x.safetensors:cos, x.npy:cos, x.bin    tensors of a file; raw bytes have the other
//                                            side's shape
//
// Threads: one. Memory: O(rows read at once); files are mapped.

#ifndef POSENC_CLIENT_CLI_DIFF_DIFF_SIDE_H_
#define POSENC_CLIENT_CLI_DIFF_DIFF_SIDE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/cli/command.h"
#include "client/cli/outcome.h"
#include "posenc/client.h"

namespace posenc::cli {

class DiffSide {
 public:
  virtual ~DiffSide() = default;

  // The tensors of the part that is compared, all of them with the same rows.
  const std::vector<TensorInfo>& tensors() const { return tensors_; }
  // What a person calls it, with what is known about it.
  const std::string& name() const { return name_; }
  // Normalised; nothing for a file.
  const std::optional<TableSpec>& spec() const { return spec_; }
  const std::string& key() const { return key_; }
  const std::vector<ValueOrigin>& origins() const { return origins_; }

  // How many of a tensor's dimensions are rows.
  size_t rank() const { return rank_; }
  // The tensors of the whole table, of which the part was selected.
  const std::vector<TensorInfo>& whole() const { return whole_; }
  bool is_file() const { return !spec_.has_value(); }
  int64_t rows() const;

  // Reads rows [begin, end), counted over all row dimensions, into one buffer for each tensor.
  virtual Outcome Read(int64_t begin, int64_t end, std::vector<std::vector<std::byte>>& rows) = 0;

 protected:
  std::vector<TensorInfo> tensors_;
  std::vector<TensorInfo> whole_;
  size_t rank_ = 1;
  std::string name_;
  std::optional<TableSpec> spec_;
  std::string key_;
  std::vector<ValueOrigin> origins_;
};

struct DiffRequest {
  const Session& session;
  Selection selection = {};
  std::string table = {};  // of models
  std::optional<int64_t> effective_length = {};
};

// Whether a side is a file of numbers, which takes its rows, and raw bytes their shape, from the other side.
bool IsTensorFile(const std::string& text);

// Opens a spec's or a model's side. `family` restricts which of a model's tables it may be; empty: any.
Outcome OpenTableSide(const DiffRequest& request, const std::string& text, const std::string& family,
                      std::unique_ptr<DiffSide>& side);

// Opens a file's side; `other` is the other side, or null where that is a file as well.
Outcome OpenFileSide(const DiffRequest& request, const std::string& text, const DiffSide* other,
                     std::unique_ptr<DiffSide>& side);

}  // namespace posenc::cli

#endif  // POSENC_CLIENT_CLI_DIFF_DIFF_SIDE_H_
