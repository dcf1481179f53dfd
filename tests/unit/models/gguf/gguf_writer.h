// Writes GGUF files byte by byte, right ones and wrong ones, by the format's own description.

#ifndef POSENC_TESTS_UNIT_MODELS_GGUF_GGUF_WRITER_H_
#define POSENC_TESTS_UNIT_MODELS_GGUF_GGUF_WRITER_H_

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace posenc {

// The bytes of a number, little-endian.
template <typename T>
std::string Bytes(T value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

inline std::string GgufText(const std::string& text) { return Bytes<uint64_t>(text.size()) + text; }

// Gathers keys and tensors, and writes the file.
class GgufWriter {
 public:
  explicit GgufWriter(uint32_t version = 3) : version_(version) {}

  GgufWriter& U32(const std::string& key, uint32_t value) { return Key(key, 4, Bytes(value)); }
  GgufWriter& F32(const std::string& key, float value) { return Key(key, 6, Bytes(value)); }
  GgufWriter& Bool(const std::string& key, bool value) { return Key(key, 7, Bytes<uint8_t>(value)); }
  GgufWriter& Text(const std::string& key, const std::string& value) { return Key(key, 8, GgufText(value)); }
  GgufWriter& I32List(const std::string& key, const std::vector<int32_t>& values) {
    std::string bytes = Bytes<uint32_t>(5) + Bytes<uint64_t>(values.size());
    for (const int32_t value : values) bytes += Bytes(value);
    return Key(key, 9, bytes);
  }
  GgufWriter& TextList(const std::string& key, size_t count) {
    std::string bytes = Bytes<uint32_t>(8) + Bytes<uint64_t>(count);
    for (size_t i = 0; i < count; ++i) bytes += GgufText("token" + std::to_string(i));
    return Key(key, 9, bytes);
  }
  // A key with a type and a value as raw bytes.
  GgufWriter& Key(const std::string& key, uint32_t type, const std::string& value) {
    keys_ += GgufText(key) + Bytes(type) + value;
    ++key_count_;
    return *this;
  }

  GgufWriter& Tensor(const std::string& name, const std::vector<float>& values) {
    return Tensor(name, {values.size()}, values);
  }
  GgufWriter& Tensor(const std::string& name, const std::vector<uint64_t>& shape,
                     const std::vector<float>& values, uint32_t type = 0) {
    entries_ += GgufText(name) + Bytes(static_cast<uint32_t>(shape.size()));
    for (const uint64_t side : shape) entries_ += Bytes(side);
    entries_ += Bytes(type) + Bytes<uint64_t>(data_.size());
    for (const float value : values) data_ += Bytes(value);
    data_.resize((data_.size() + 31) / 32 * 32);
    ++tensor_count_;
    return *this;
  }

  std::string ToBytes() const {
    std::string bytes =
        "GGUF" + Bytes(version_) + Bytes(tensor_count_) + Bytes(key_count_) + keys_ + entries_;
    if (tensor_count_ > 0) bytes.resize((bytes.size() + 31) / 32 * 32);
    return bytes + data_;
  }

 private:
  uint32_t version_;
  uint64_t tensor_count_ = 0;
  uint64_t key_count_ = 0;
  std::string keys_;
  std::string entries_;
  std::string data_;
};

// Writes `bytes` to a file of the running test, and returns its path.
inline std::string WriteFile(const std::string& bytes) {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  const std::filesystem::path path = std::filesystem::path(::testing::TempDir()) /
                                     (std::string(test->test_suite_name()) + "." + test->name() + ".gguf");
  std::ofstream(path, std::ios::binary) << bytes;
  return path.string();
}

}  // namespace posenc

#endif  // POSENC_TESTS_UNIT_MODELS_GGUF_GGUF_WRITER_H_
