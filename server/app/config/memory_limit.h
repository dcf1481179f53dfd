// How much memory the container gives this process, as cgroup v2 says it. Reads files; safe from any
// thread.

#ifndef POSENC_SERVER_APP_CONFIG_MEMORY_LIMIT_H_
#define POSENC_SERVER_APP_CONFIG_MEMORY_LIMIT_H_

#include <cstddef>
#include <optional>
#include <string>

namespace posenc {

// Where the kernel shows the cgroups; tests have their own.
struct CgroupPaths {
  std::string membership = "/proc/self/cgroup";
  std::string root = "/sys/fs/cgroup";
};

// Returns the smallest memory.max, in bytes, of the process's cgroup and those above it; nothing where no
// limit is set or cgroup v2 is not in use.
std::optional<size_t> CgroupMemoryLimit(const CgroupPaths& paths = {});

}  // namespace posenc

#endif  // POSENC_SERVER_APP_CONFIG_MEMORY_LIMIT_H_
