// A real posenc-server as a child process, on free ports of the loopback interface.
//
// Ownership: the destructor kills the process. Threads: not thread-safe. Failures are failures of the
// running test.

#ifndef POSENC_TESTS_INTEGRATION_PROCESS_H_
#define POSENC_TESTS_INTEGRATION_PROCESS_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace posenc {

class ServerProcess {
 public:
  // Starts the server and waits until it says that it is ready. `port` 0 takes a free one.
  explicit ServerProcess(const std::vector<std::string>& flags = {}, int port = 0);
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  // Ends the process at once, as a crash would.
  void Kill();

  int port() const { return port_; }
  std::string target() const { return "127.0.0.1:" + std::to_string(port_); }

  // Bytes of memory that are resident, and the most that ever were.
  int64_t resident_bytes() const { return StatusBytes("VmRSS:"); }
  int64_t peak_resident_bytes() const { return StatusBytes("VmHWM:"); }

 private:
  void Spawn(std::vector<std::string> arguments, int log_fd);
  // Reads the log up to the line "ready", learns the port from it, and goes on reading in the background.
  void AwaitReady(int log_fd);
  int64_t StatusBytes(const std::string& field) const;

  pid_t pid_ = -1;
  int port_ = 0;
  std::thread log_reader_;
};

}  // namespace posenc

#endif  // POSENC_TESTS_INTEGRATION_PROCESS_H_
