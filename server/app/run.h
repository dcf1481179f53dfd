// The program posenc-server: everything of it but main().

#ifndef POSENC_SERVER_APP_RUN_H_
#define POSENC_SERVER_APP_RUN_H_

#include <string>
#include <vector>

namespace posenc {

// Runs the program with its arguments (without its name) and returns the exit code: 0 after a drain or
// after what was asked for was shown, 1 when it cannot start, 2 for a wrong configuration.
// Must be called before any thread starts.
int RunServer(const std::vector<std::string>& args);

}  // namespace posenc

#endif  // POSENC_SERVER_APP_RUN_H_
