#include "server/app/config/memory_limit.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace posenc {
namespace {

namespace fs = std::filesystem;

// Where the process stands in one hierarchy, and where the limits lie there.
struct Hierarchy {
  fs::path root;
  std::string path;  // below the root
  const char* file;
};

// v1 has no word for "no limit", but this and numbers near it: whole pages of the largest integer.
constexpr uint64_t kUnlimited = uint64_t{1} << 62;

// "max", no file and nonsense are no limit.
std::optional<size_t> ReadLimit(const fs::path& file_name) {
  std::ifstream file(file_name);
  std::string text;
  uint64_t bytes = 0;
  if (!(file >> text) || !absl::SimpleAtoi(text, &bytes) || bytes >= kUnlimited) return std::nullopt;
  return bytes;
}

// A line of /proc/self/cgroup is "0::/path" for v2 and "4:cpu,memory:/path" for v1; a host may have both.
std::optional<Hierarchy> HierarchyOf(const std::string& line, const CgroupPaths& paths) {
  const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits(':', 2));
  if (parts.size() != 3 || !absl::StartsWith(parts[2], "/")) return std::nullopt;
  const std::string path = parts[2].substr(1);
  if (parts[0] == "0" && parts[1].empty()) return Hierarchy{paths.root, path, "memory.max"};
  const std::vector<absl::string_view> controllers = absl::StrSplit(parts[1], ',');
  if (std::find(controllers.begin(), controllers.end(), "memory") == controllers.end()) return std::nullopt;
  return Hierarchy{paths.v1_root, path, "memory.limit_in_bytes"};
}

}  // namespace

std::optional<size_t> CgroupMemoryLimit(const CgroupPaths& paths) {
  std::optional<size_t> least;
  const auto take = [&](const fs::path& file) {
    const std::optional<size_t> limit = ReadLimit(file);
    if (limit && (!least || *limit < *least)) least = limit;
  };
  std::ifstream membership(paths.membership);
  for (std::string line; std::getline(membership, line);) {
    const std::optional<Hierarchy> hierarchy = HierarchyOf(line, paths);
    if (!hierarchy) continue;
    fs::path folder = hierarchy->root;
    take(folder / hierarchy->file);
    // A container may see paths that its own view of the tree does not have: those simply have no file.
    for (const fs::path& part : fs::path(hierarchy->path)) {
      folder /= part;
      take(folder / hierarchy->file);
    }
  }
  return least;
}

}  // namespace posenc
