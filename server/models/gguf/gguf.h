// Reads the head of a GGUF file: its metadata and the few tensors that decide positions.
//
// The file comes from strangers and is large: it is read from front to back with a small buffer, every
// count and length is held against the bytes that are left before anything is kept, and what is long (the
// tokenizer, texts, lists of strings) is passed over. Format: GGUF versions 2 and 3, little-endian (ggml's
// docs/gguf.md).
//
// Threads: pure functions, any thread. Ownership: everything is a value.

#ifndef POSENC_SERVER_MODELS_GGUF_GGUF_H_
#define POSENC_SERVER_MODELS_GGUF_GGUF_H_

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace posenc {

// A tensor that decides positions: rope_freqs.weight, rope_factors_long.weight, rope_factors_short.weight,
// or position_embd.weight, of which only the shape is read.
struct GgufTensor {
  std::string name;
  std::vector<int64_t> shape;   // the fastest dimension first, as in the file
  std::vector<double> values;   // row-major
};

struct GgufFile {
  uint32_t version = 0;
  nlohmann::json metadata = nlohmann::json::object();  // numbers, booleans, short texts, lists of numbers
  std::vector<GgufTensor> tensors;
};

// Reads the head of the file at `path`.
// Errors: NotFound for a file that cannot be opened; InvalidArgument, which names the place, for one that is
// no GGUF file, of another version or byte order, cut short, or beyond the limits of gguf.cc.
absl::StatusOr<GgufFile> ReadGguf(const std::string& path);

// The same of a stream that stands at the file's beginning and has `size_bytes` bytes.
absl::StatusOr<GgufFile> ReadGguf(std::istream& stream, uint64_t size_bytes);

// Returns the text that ModelQuery::gguf_json takes: {"metadata": {key: value}, "tensors": {name: {"shape":
// […], "values": […]}}}.
std::string GgufToJson(const GgufFile& file);

}  // namespace posenc

#endif  // POSENC_SERVER_MODELS_GGUF_GGUF_H_
