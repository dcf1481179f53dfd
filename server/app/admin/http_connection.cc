#include "server/app/admin/http_connection.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace posenc {
namespace {

constexpr size_t kMaxHeadBytes = 8192;
constexpr absl::Duration kReadTimeout = absl::Seconds(5);
constexpr absl::Duration kWriteTimeout = absl::Seconds(10);
// For the peer to hang up first: what it still sends would else make the kernel drop our answer.
constexpr absl::Duration kLeaveTimeout = absl::Seconds(1);

absl::string_view ReasonOf(int code) {
  switch (code) {
    case 200: return "OK";
    case 400: return "Bad Request";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 431: return "Request Header Fields Too Large";
    default: return "Service Unavailable";
  }
}

std::string Serialised(const HttpPage& answer, bool with_body) {
  return absl::StrCat("HTTP/1.1 ", answer.code, " ", ReasonOf(answer.code),
                      "\r\nContent-Type: ", answer.content_type, "\r\nContent-Length: ", answer.body.size(),
                      "\r\nCache-Control: no-store\r\n", answer.code == 405 ? "Allow: GET, HEAD\r\n" : "",
                      "Connection: close\r\n\r\n", with_body ? answer.body : "");
}

std::string Refusal(int code) {
  return Serialised({.code = code, .body = absl::StrCat(ReasonOf(code), "\n")}, true);
}

// Answers the request whose head starts with this line.
std::string AnswerTo(absl::string_view line, const HttpConnection::Answer& answer) {
  const std::vector<absl::string_view> words = absl::StrSplit(line, ' ');
  if (words.size() != 3 || !absl::StartsWith(words[2], "HTTP/1.") || !absl::StartsWith(words[1], "/")) {
    return Refusal(400);
  }
  if (words[0] != "GET" && words[0] != "HEAD") return Refusal(405);
  const std::pair<absl::string_view, absl::string_view> target = absl::StrSplit(words[1], absl::MaxSplits('?', 1));
  return Serialised(answer({std::string(target.first), std::string(target.second)}), words[0] == "GET");
}

bool MustWait(ssize_t result) { return result < 0 && (errno == EAGAIN || errno == EINTR); }

}  // namespace

HttpConnection::HttpConnection(Descriptor descriptor, absl::Time now)
    : descriptor_(std::move(descriptor)), deadline_(now + kReadTimeout) {}

short HttpConnection::events() const { return phase_ == Phase::kWriting ? POLLOUT : POLLIN; }

bool HttpConnection::Advance(const Answer& answer, absl::Time now) {
  switch (phase_) {
    case Phase::kReading: return Read(answer, now);
    case Phase::kWriting: return Write(now);
    case Phase::kLeaving: return Leave();
  }
  return false;
}

bool HttpConnection::Read(const Answer& answer, absl::Time now) {
  char bytes[2048];
  const ssize_t count = recv(descriptor_.get(), bytes, sizeof(bytes), 0);
  if (MustWait(count)) return true;
  if (count <= 0) return false;
  head_.append(bytes, static_cast<size_t>(count));
  if (absl::StrContains(head_, "\r\n\r\n")) {
    answer_ = AnswerTo(absl::string_view(head_).substr(0, head_.find("\r\n")), answer);
  } else if (head_.size() > kMaxHeadBytes) {
    answer_ = Refusal(431);
  } else {
    return true;
  }
  phase_ = Phase::kWriting;
  deadline_ = now + kWriteTimeout;
  return Write(now);
}

bool HttpConnection::Write(absl::Time now) {
  const ssize_t count = send(descriptor_.get(), answer_.data() + written_, answer_.size() - written_, MSG_NOSIGNAL);
  if (MustWait(count)) return true;
  if (count <= 0) return false;
  written_ += static_cast<size_t>(count);
  if (written_ < answer_.size()) return true;
  shutdown(descriptor_.get(), SHUT_WR);
  phase_ = Phase::kLeaving;
  deadline_ = now + kLeaveTimeout;
  return true;
}

bool HttpConnection::Leave() {
  char ignored[2048];
  const ssize_t count = recv(descriptor_.get(), ignored, sizeof(ignored), 0);
  return count > 0 || MustWait(count);
}

}  // namespace posenc
