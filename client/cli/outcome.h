// How a command ended: its exit code, and the one line that says why.
//
//   0       done                     1       a file cannot be written; diff: different; check: not passed
//   2       wrong usage              64 + n  the call ended with gRPC status code n (with --local too)

#ifndef POSENC_CLIENT_CLI_OUTCOME_H_
#define POSENC_CLIENT_CLI_OUTCOME_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace posenc::cli {

inline constexpr int kFileError = 1;
inline constexpr int kDifferent = 1;  // of diff; of check, that something did not hold
inline constexpr int kUsageError = 2;
inline constexpr int kRpcErrorBase = 64;

struct Outcome {
  int exit_code = 0;
  std::string message = {};  // for stderr, without "posenc: "

  bool ok() const { return exit_code == 0; }
};

inline Outcome Usage(std::string message) { return {kUsageError, std::move(message)}; }
inline Outcome FileError(std::string message) { return {kFileError, std::move(message)}; }

// A call's error in one line: code, message and, where there is one, what to do about it.
inline Outcome RpcError(const absl::Status& status) {
  std::string text = absl::StrCat(absl::StatusCodeToString(status.code()), ": ", status.message());
  if (status.code() == absl::StatusCode::kUnavailable) {
    absl::StrAppend(&text, "; is posenc-server running there? Start one, name another with --server, "
                           "or compute here with --local");
  }
  return {kRpcErrorBase + static_cast<int>(status.code()), std::move(text)};
}

}  // namespace posenc::cli

#endif  // POSENC_CLIENT_CLI_OUTCOME_H_
