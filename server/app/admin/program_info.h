// What this program is: its version and what it was built from and with. Constant; any thread.

#ifndef POSENC_SERVER_APP_ADMIN_PROGRAM_INFO_H_
#define POSENC_SERVER_APP_ADMIN_PROGRAM_INFO_H_

#include <string>

namespace posenc {

struct ProgramInfo {
  std::string version;           // of the project: "0.1.0"
  std::string revision;          // short git hash, or "unknown"
  std::string compiler;          // "GNU 12.2.0"
  std::string grpc_version;      // linked, not compiled against
  std::string protobuf_version;
  std::string kernel_target;     // instruction set of the kernels: "AVX2"
};

ProgramInfo GetProgramInfo();

// Returns what --version shows, in one line.
std::string VersionText(const ProgramInfo& info);

// Returns it all as one JSON object.
std::string VersionJson(const ProgramInfo& info);

}  // namespace posenc

#endif  // POSENC_SERVER_APP_ADMIN_PROGRAM_INFO_H_
