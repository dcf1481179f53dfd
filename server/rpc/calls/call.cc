#include "server/rpc/calls/call.h"

#include <algorithm>
#include <utility>

#include "server/tables/threads/steady_clock.h"

namespace posenc {
namespace {

// Room for our status to travel: a tenth of the time that is left, at most this.
constexpr absl::Duration kMaxMargin = absl::Milliseconds(100);

absl::Time BeforeDeadline(absl::Time deadline) {
  if (deadline == absl::InfiniteFuture()) return deadline;
  const absl::Duration left = std::max(deadline - SteadyNow(), absl::ZeroDuration());
  return deadline - std::min(left / 10, kMaxMargin);
}

}  // namespace

Call::Call(absl::Time client_deadline, absl::Duration max_memory_wait)
    : client_deadline_(client_deadline),
      work_deadline_(BeforeDeadline(client_deadline)),
      max_memory_wait_(max_memory_wait) {}

absl::Time Call::memory_deadline() const {
  return std::min(work_deadline_, SteadyNow() + max_memory_wait_);
}

bool Call::cancelled() const {
  {
    const std::lock_guard lock(ticket_mutex_);
    if (cancelled_) return true;
  }
  return Expired();
}

bool Call::Expired() const {
  return client_deadline_ != absl::InfiniteFuture() && SteadyNow() >= client_deadline_;
}

absl::Status Call::EndStatus() const {
  if (Expired()) return absl::DeadlineExceededError("the deadline of the call has passed");
  return absl::CancelledError("the call was cancelled");
}

int64_t Call::NextRequest() {
  const std::lock_guard lock(ticket_mutex_);
  return ++last_request_;
}

void Call::SetTicket(int64_t number, std::shared_ptr<FetchTicket> ticket) {
  {
    const std::lock_guard lock(ticket_mutex_);
    if (number < ticket_number_) return;  // this request is done: a later one has started
    if (!cancelled_) {
      ticket_number_ = number;
      std::swap(ticket_, ticket);
      return;  // the ticket before is let go of after the lock
    }
  }
  if (ticket != nullptr) ticket->Cancel();
}

void Call::CancelWork() {
  std::shared_ptr<FetchTicket> ticket;
  {
    const std::lock_guard lock(ticket_mutex_);
    cancelled_ = true;
    ticket = std::move(ticket_);
  }
  // Outside of the lock: the store may run the request's callback from here.
  if (ticket != nullptr) ticket->Cancel();
}

}  // namespace posenc
