#include "tests/bench/support/programs.h"

#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "server/core/limits.h"

namespace posenc::bench {
namespace {

// Returns the number behind "port": in a line of the server's log, or 0.
int PortIn(const std::string& line) {
  const std::string field = "\"port\":";
  const size_t at = line.find(field);
  return at == std::string::npos ? 0 : std::atoi(line.c_str() + at + field.size());
}

}  // namespace

std::string ProgramFolder() { return std::filesystem::read_symlink("/proc/self/exe").parent_path(); }

absl::StatusOr<PosencServer> StartPosencServer(std::vector<std::string> flags, const std::string& cpus) {
  std::vector<std::string> arguments;
  if (!cpus.empty()) arguments = {"/usr/bin/taskset", "-c", cpus};
  arguments.insert(arguments.end(),
                   {absl::StrCat(ProgramFolder(), "/posenc-server"), "--listen", "127.0.0.1:0",
                    "--admin-listen", "", "--log-format", "json"});
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  auto process = ChildProcess::Start(arguments, Output::kStderr);
  if (!process.ok()) return process.status();
  for (int port = 0;;) {
    const absl::StatusOr<std::string> line = (*process)->ReadLine();
    if (!line.ok()) return line.status();
    if (absl::StrContains(*line, "\"listening\"")) port = PortIn(*line);
    if (!absl::StrContains(*line, "\"ready\"")) continue;
    (*process)->IgnoreOutput();
    return PosencServer{*std::move(process), absl::StrCat("127.0.0.1:", port)};
  }
}

absl::StatusOr<BareServer> StartBareServer(int64_t unary_bytes, int64_t stream_bytes) {
  constexpr size_t kMessageBytes = limits::kDefaultBlockBytes;
  auto process = ChildProcess::Start(
      {absl::StrCat(ProgramFolder(), "/bare_server"), absl::StrCat(unary_bytes), absl::StrCat(kMessageBytes),
       absl::StrCat(stream_bytes / static_cast<int64_t>(kMessageBytes))},
      Output::kStdout);
  if (!process.ok()) return process.status();
  const absl::StatusOr<std::string> line = (*process)->ReadLine();
  if (!line.ok()) return line.status();
  const std::vector<std::string> ports = absl::StrSplit(*line, ' ');
  if (ports.size() != 2) return absl::InternalError(absl::StrCat("bare_server said: ", *line));
  return BareServer{*std::move(process), absl::StrCat("127.0.0.1:", ports[0]),
                    absl::StrCat("127.0.0.1:", ports[1])};
}

void ExitOnError(const absl::Status& status) {
  if (status.ok()) return;
  std::cerr << "cannot measure: " << status << "\n";
  std::exit(1);
}

}  // namespace posenc::bench
