// The real posenc-server as a child process on free ports of loopback, followed through its log.
//
// Nothing here sleeps: a test waits for a line of the log or for the end of the process, both with a time
// limit far above what they take. The destructor kills a child that is still running.

#ifndef POSENC_TESTS_UNIT_APP_SERVER_PROCESS_H_
#define POSENC_TESTS_UNIT_APP_SERVER_PROCESS_H_

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "grpcpp/channel.h"
#include "nlohmann/json.hpp"

namespace posenc {

class ServerProcess {
 public:
  // Starts the program with these arguments alone.
  static std::unique_ptr<ServerProcess> WithArguments(const std::vector<std::string>& args);
  // Starts it on free ports, with the arguments besides.
  static std::unique_ptr<ServerProcess> OnFreePorts(std::vector<std::string> args = {});
  // The same with a limit on descriptors that it cannot raise (ulimit -n); 0 leaves the limit as it is.
  static std::unique_ptr<ServerProcess> WithDescriptorLimit(unsigned limit, std::vector<std::string> args = {});

  ~ServerProcess();

  // Reads the log up to the line with this message and returns it; nothing when the log ends before.
  std::optional<nlohmann::json> AwaitLog(const std::string& message);

  // The ports that the log tells; these read the log up to the line in question.
  int AwaitAdminPort() { return AwaitPort("admin pages are open"); }
  int AwaitPort() { return AwaitPort("listening"); }
  // A channel to the gRPC port.
  std::shared_ptr<grpc::Channel> AwaitChannel();

  void Send(int signal);
  // Sends a signal again and again, every 50 ms, until the process ends; returns as AwaitExit does.
  int SendUntilExit(int signal);
  // Waits for the end and returns the exit code, 1000 + signal when one ended it, -1 after a minute.
  int AwaitExit();

  // What it has written so far to standard error and output, as far as it was read.
  const std::string& output() const { return output_; }

 private:
  ServerProcess(pid_t pid, int pipe) : pid_(pid), pipe_(pipe) {}

  static std::unique_ptr<ServerProcess> Start(const std::vector<std::string>& args, unsigned descriptor_limit);
  int AwaitPort(const std::string& message);
  // Waits for more of the log, and keeps it.
  enum class Reading { kMore, kNothing, kEnd };
  Reading ReadSome(int limit_ms);
  std::optional<std::string> ReadLine();

  pid_t pid_;
  const int pipe_;
  std::string unread_;
  std::string output_;
};

}  // namespace posenc

#endif  // POSENC_TESTS_UNIT_APP_SERVER_PROCESS_H_
