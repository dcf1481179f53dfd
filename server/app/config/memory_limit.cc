#include "server/app/config/memory_limit.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>

#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"

namespace posenc {
namespace {

namespace fs = std::filesystem;

// Returns the process's path below the root: the line "0::/path" is cgroup v2's.
std::optional<std::string> MembershipPath(const std::string& file_name) {
  std::ifstream file(file_name);
  std::string line;
  while (std::getline(file, line)) {
    absl::string_view path = line;
    if (absl::ConsumePrefix(&path, "0::/")) return std::string(path);
  }
  return std::nullopt;
}

// "max", no file and nonsense are no limit.
std::optional<size_t> ReadLimit(const fs::path& folder) {
  std::ifstream file(folder / "memory.max");
  std::string text;
  uint64_t bytes = 0;
  if (!(file >> text) || !absl::SimpleAtoi(text, &bytes)) return std::nullopt;
  return bytes;
}

}  // namespace

std::optional<size_t> CgroupMemoryLimit(const CgroupPaths& paths) {
  const std::optional<std::string> membership = MembershipPath(paths.membership);
  if (!membership) return std::nullopt;
  const fs::path root(paths.root);
  std::optional<size_t> least = ReadLimit(root);
  // A container may see paths that its own view of the tree does not have: those simply have no file.
  fs::path folder = root;
  for (const fs::path& part : fs::path(*membership)) {
    folder /= part;
    const std::optional<size_t> limit = ReadLimit(folder);
    if (limit && (!least || *limit < *least)) least = limit;
  }
  return least;
}

}  // namespace posenc
