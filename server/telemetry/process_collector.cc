#include "server/telemetry/process_collector.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>

#include "server/telemetry/metric_family.h"

namespace posenc {
namespace {

// What proc(5) calls utime + stime, num_threads, starttime, vsize and rss.
struct ProcessStat {
  double cpu_seconds = 0;
  double threads = 0;
  double start_seconds_after_boot = 0;
  double virtual_bytes = 0;
  double resident_bytes = 0;
};

std::optional<ProcessStat> ReadProcessStat() {
  std::ifstream file("/proc/self/stat");
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  // The program's name, in parentheses, may itself hold spaces and parentheses: the last one ends it.
  const size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream text(line.substr(name_end + 1));
  const std::vector<std::string> fields{std::istream_iterator<std::string>(text), {}};
  constexpr size_t kFirst = 3;  // proc(5) numbers from 1, and the field after the name is the third
  if (fields.size() <= 24 - kFirst) return std::nullopt;
  const auto field = [&](size_t number) { return std::strtod(fields[number - kFirst].c_str(), nullptr); };
  const double ticks_per_second = static_cast<double>(sysconf(_SC_CLK_TCK));
  return ProcessStat{.cpu_seconds = (field(14) + field(15)) / ticks_per_second,
                     .threads = field(20),
                     .start_seconds_after_boot = field(22) / ticks_per_second,
                     .virtual_bytes = field(23),
                     .resident_bytes = field(24) * static_cast<double>(sysconf(_SC_PAGESIZE))};
}

// Seconds since the epoch at which the machine booted.
std::optional<double> ReadBootTime() {
  std::ifstream file("/proc/stat");
  std::string word;
  while (file >> word) {
    double seconds = 0;
    if (word == "btime" && file >> seconds) return seconds;
  }
  return std::nullopt;
}

std::optional<double> CountOpenFiles() {
  std::error_code error;
  std::filesystem::directory_iterator files("/proc/self/fd", error);
  if (error) return std::nullopt;
  // One of them is the directory that is being read.
  return static_cast<double>(std::distance(files, std::filesystem::directory_iterator())) - 1;
}

std::optional<double> MaxOpenFiles() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::nullopt;
  if (limit.rlim_cur == RLIM_INFINITY) return std::numeric_limits<double>::infinity();
  return static_cast<double>(limit.rlim_cur);
}

}  // namespace

std::vector<prometheus::MetricFamily> ProcessCollector::Collect() const {
  using Family = MetricFamilyBuilder;
  std::vector<prometheus::MetricFamily> families;
  const auto gauge = [&](const char* name, const char* help, std::optional<double> value) {
    if (value) families.push_back(Family::Gauge(name, help).Add(*value).Build());
  };
  if (const auto stat = ReadProcessStat()) {
    families.push_back(Family::Counter("process_cpu_seconds_total", "User and system CPU time in seconds.")
                           .Add(stat->cpu_seconds)
                           .Build());
    gauge("process_resident_memory_bytes", "Resident memory in bytes.", stat->resident_bytes);
    gauge("process_virtual_memory_bytes", "Virtual memory in bytes.", stat->virtual_bytes);
    gauge("process_threads", "Threads of the process.", stat->threads);
    if (const auto boot = ReadBootTime()) {
      gauge("process_start_time_seconds", "Start of the process, in seconds since the epoch.",
            *boot + stat->start_seconds_after_boot);
    }
  }
  gauge("process_open_fds", "Open file descriptors.", CountOpenFiles());
  gauge("process_max_fds", "Most file descriptors that may be open.", MaxOpenFiles());
  return families;
}

}  // namespace posenc
