// What the suites compare tables by.

#ifndef POSENC_TESTS_INTEGRATION_TABLES_H_
#define POSENC_TESTS_INTEGRATION_TABLES_H_

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "posenc/client.h"

namespace posenc {

// Every byte of a table, with its key, names and shapes.
struct TableContent {
  std::string key;
  std::vector<TensorInfo> tensors;
  std::vector<std::string> bytes;

  friend bool operator==(const TableContent&, const TableContent&) = default;
};

inline TableContent ContentOf(const Table& table) {
  TableContent content{.key = table.key(), .tensors = {}, .bytes = {}};
  for (const TensorInfo& tensor : table.tensors()) {
    const std::span<const std::byte> data = table.bytes(tensor.name);
    content.tensors.push_back(tensor);
    content.bytes.emplace_back(reinterpret_cast<const char*>(data.data()), data.size());
  }
  return content;
}

// One table of every kind: families, orders, layouts, scalings and element types.
inline std::vector<TableRequest> TablesOfEveryKind() {
  return {
      {Sinusoidal{.d_model = 64, .max_len = 3000}},
      {Sinusoidal{.d_model = 65, .max_len = 300, .order = SinusoidalOrder::kSinCos, .frequency_shift = 1},
       ElementType::kF64},
      {Rope{.head_dim = 128, .max_len = 5000, .base = 500000, .scaling = Llama3Scaling()}},
      {Rope{.head_dim = 96, .rotary_dim = 24, .layout = RopeLayout::kSplitDuplicated}, ElementType::kF16},
      {Rope{.head_dim = 64, .scaling = LinearScaling{4}, .layout = RopeLayout::kCosSin},
       ElementType::kBF16},
      {Rope{.head_dim = 32, .layout = RopeLayout::kComplex, .first_position = -100}},
      {Rope{.head_dim = 128, .layout = RopeLayout::kFrequencies}},
      {Alibi{.heads = 12, .max_len = 200}},
      {Alibi{.heads = 6, .max_len = 100, .masked = true}, ElementType::kF16},
      {Alibi{.heads = 112, .form = AlibiForm::kSlopes}, ElementType::kF64},
  };
}

}  // namespace posenc

#endif  // POSENC_TESTS_INTEGRATION_TABLES_H_
