// The keys of one architecture in a GGUF file's metadata, and the scaling that they ask for.
//
// Not thread-safe; refers to the parsed document and to the reading, which must outlive it.

#ifndef POSENC_SERVER_MODELS_GGUF_GGUF_KEYS_H_
#define POSENC_SERVER_MODELS_GGUF_GGUF_KEYS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/models/gguf/gguf_architectures.h"
#include "server/models/rotary/rope_draft.h"

namespace posenc {

class GgufKeys {
 public:
  GgufKeys(const ConfigObject& metadata, const ConfigObject& tensors, std::string architecture,
           Reading& reading)
      : metadata_(metadata), tensors_(tensors), prefix_(std::move(architecture)), reading_(reading) {}

  // Returns the whole name of a key: "llama.rope.freq_base".
  std::string Key(absl::string_view name) const { return absl::StrCat(prefix_, ".", name); }

  // Whether the key is there; asking that is not reading it.
  bool Has(absl::string_view name) const { return metadata_.Has(Key(name)); }
  bool HasTensor(absl::string_view name) const { return tensors_.Find(name) != nullptr; }

  std::optional<Found<double>> Number(absl::string_view name) const {
    return metadata_.Number(Key(name), reading_.bad);
  }
  // A whole number, or the largest of a list that has one for each layer.
  std::optional<Found<int64_t>> Integer(absl::string_view name) const;
  std::optional<Found<std::string>> Text(absl::string_view name) const {
    return metadata_.Text(Key(name), reading_.bad);
  }
  std::optional<Found<std::vector<int64_t>>> Integers(absl::string_view name) const {
    return metadata_.Integers(Key(name), reading_.bad);
  }

  // The numbers of a tensor; none where the file has no such tensor.
  std::vector<double> Values(absl::string_view tensor) const;
  // The shape of a tensor; empty where the file has no such tensor.
  std::vector<int64_t> Shape(absl::string_view tensor) const;

  // A value that llama.cpp takes where the file has no key `name`.
  template <typename T>
  Found<T> Default(T value, absl::string_view name) const {
    return {value, Key(name), "default of llama.cpp", true};
  }

  const ConfigObject& metadata() const { return metadata_; }
  Reading& reading() const { return reading_; }

 private:
  const ConfigObject& metadata_;
  const ConfigObject& tensors_;
  std::string prefix_;
  Reading& reading_;
};

// Reads the scaling that the keys and the tensors of divisors ask for into the draft's spec, which has its
// widths, length and base.
void ReadGgufScaling(const GgufKeys& keys, const GgufArchitecture& row, RopeDraft& rope);

}  // namespace posenc

#endif  // POSENC_SERVER_MODELS_GGUF_GGUF_KEYS_H_
