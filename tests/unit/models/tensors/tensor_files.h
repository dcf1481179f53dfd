// Files of tensors for the tests, byte by byte, in a folder of their own.

#ifndef POSENC_TESTS_UNIT_MODELS_TENSORS_TENSOR_FILES_H_
#define POSENC_TESTS_UNIT_MODELS_TENSORS_TENSOR_FILES_H_

#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace posenc {

inline std::string LittleEndianText(uint64_t value, size_t count) {
  return {reinterpret_cast<const char*>(&value), count};
}

// A file with this header and data; `header_bytes` lies about the header's length where it is given.
inline std::string Safetensors(const std::string& header, const std::string& data, int64_t header_bytes = -1) {
  const auto length = header_bytes < 0 ? header.size() : static_cast<uint64_t>(header_bytes);
  return LittleEndianText(length, 8) + header + data;
}

inline std::string Npy(const std::string& header, const std::string& data, char major = 1) {
  const std::string length = LittleEndianText(header.size(), major == 1 ? 2 : 4);
  return std::string("\x93NUMPY") + major + '\0' + length + header + data;
}

inline std::string Floats(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

class TensorFilesTest : public testing::Test {
 protected:
  TensorFilesTest() { std::filesystem::create_directories(folder_); }
  ~TensorFilesTest() override { std::filesystem::remove_all(folder_); }

  std::string File(const std::string& name, const std::string& bytes) {
    const std::filesystem::path path = folder_ / name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path.string();
  }

 private:
  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("tensor_files." + std::to_string(getpid()));
};

}  // namespace posenc

#endif  // POSENC_TESTS_UNIT_MODELS_TENSORS_TENSOR_FILES_H_
