#include "client/cli/output/progress.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "client/cli/output/output.h"

namespace posenc::cli {
namespace {

constexpr int kBarWidth = 30;
// What is done sooner needs no bar.
constexpr absl::Duration kPatience = absl::Milliseconds(300);
constexpr absl::Duration kInterval = absl::Milliseconds(100);

}  // namespace

ProgressBar::ProgressBar(bool enabled)
    : enabled_(enabled && IsTerminal(STDERR_FILENO)), begin_(absl::Now()), last_shown_(begin_) {}

ProgressBar::~ProgressBar() {
  if (on_screen_) std::cerr << "\r\x1b[K" << std::flush;
}

void ProgressBar::Show(double fraction, const std::string& text) {
  if (!enabled_) return;
  const absl::Time now = absl::Now();
  if (now - begin_ < kPatience || now - last_shown_ < kInterval) return;
  last_shown_ = now;
  on_screen_ = true;
  const int filled = static_cast<int>(std::clamp(fraction, 0.0, 1.0) * kBarWidth);
  std::cerr << '\r' << '[' << std::string(filled, '#') << std::string(kBarWidth - filled, ' ')
            << absl::StrFormat("] %3.0f%%  %s\x1b[K", fraction * 100, text) << std::flush;
}

std::string BytesText(double bytes) {
  constexpr std::array<absl::string_view, 6> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return absl::StrFormat("%.0f bytes", bytes);
  size_t unit = 0;
  for (bytes /= 1024; bytes >= 1024 && unit + 1 < kUnits.size(); ++unit) bytes /= 1024;
  return absl::StrFormat("%.1f %s", bytes, kUnits[unit]);
}

}  // namespace posenc::cli
