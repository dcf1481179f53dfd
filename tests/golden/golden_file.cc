#include "tests/golden/golden_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace posenc {

std::vector<GoldenFile> LoadGoldenFiles(const std::string& prefix) {
  std::vector<GoldenFile> files;
  const std::filesystem::path folder = std::filesystem::path(POSENC_TEST_SOURCE_DIR) / "golden/data";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().stem().string();
    if (name.rfind(prefix, 0) != 0) continue;
    std::ifstream in(entry.path());
    files.push_back({name, nlohmann::json::parse(in)});
  }
  std::sort(files.begin(), files.end(),
            [](const GoldenFile& a, const GoldenFile& b) { return a.name < b.name; });
  return files;
}

}  // namespace posenc
