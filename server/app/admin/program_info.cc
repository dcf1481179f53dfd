#include "server/app/admin/program_info.h"

#include <google/protobuf/stubs/common.h>
#include <grpcpp/grpcpp.h>

#include "absl/strings/str_cat.h"
#include "build_version.h"
#include "nlohmann/json.hpp"
#include "server/encodings/table_generator.h"

namespace posenc {

ProgramInfo GetProgramInfo() {
  return {.version = POSENC_VERSION,
          .revision = POSENC_REVISION,
          .compiler = POSENC_COMPILER,
          .grpc_version = grpc::Version(),
          .protobuf_version = google::protobuf::internal::VersionString(GOOGLE_PROTOBUF_VERSION),
          .kernel_target = KernelTarget()};
}

std::string VersionText(const ProgramInfo& info) {
  return absl::StrCat("posenc-server ", info.version, " (revision ", info.revision, ", ", info.compiler,
                      ", gRPC ", info.grpc_version, ", protobuf ", info.protobuf_version, ", kernels ",
                      info.kernel_target, ")");
}

std::string VersionJson(const ProgramInfo& info) {
  const nlohmann::ordered_json json = {
      {"version", info.version},           {"revision", info.revision},
      {"compiler", info.compiler},         {"grpc_version", info.grpc_version},
      {"protobuf_version", info.protobuf_version}, {"kernel_target", info.kernel_target}};
  return json.dump() + "\n";
}

}  // namespace posenc
