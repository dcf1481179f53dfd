// A bar on stderr while something takes long. Silent unless stderr is a terminal, and for what is done
// within a moment. Not thread-safe.

#ifndef POSENC_CLIENT_CLI_OUTPUT_PROGRESS_H_
#define POSENC_CLIENT_CLI_OUTPUT_PROGRESS_H_

#include <string>

#include "absl/time/time.h"

namespace posenc::cli {

class ProgressBar {
 public:
  // `enabled` false: does nothing at all (--quiet).
  explicit ProgressBar(bool enabled);
  ~ProgressBar();  // takes the bar away
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // Shows "[#####     ] 50%  TEXT", at most ten times a second.
  void Show(double fraction, const std::string& text);

 private:
  const bool enabled_;
  const absl::Time begin_;
  absl::Time last_shown_;
  bool on_screen_ = false;
};

// "64.0 MiB", "12 bytes".
std::string BytesText(double bytes);

}  // namespace posenc::cli

#endif  // POSENC_CLIENT_CLI_OUTPUT_PROGRESS_H_
