// The files of tests/golden/data.

#ifndef POSENC_TESTS_GOLDEN_GOLDEN_FILE_H_
#define POSENC_TESTS_GOLDEN_GOLDEN_FILE_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace posenc {

struct GoldenFile {
  std::string name;  // without the extension
  nlohmann::json json;
};

// Returns every file whose name begins with `prefix`, in the order of their names.
std::vector<GoldenFile> LoadGoldenFiles(const std::string& prefix);

}  // namespace posenc

#endif  // POSENC_TESTS_GOLDEN_GOLDEN_FILE_H_
