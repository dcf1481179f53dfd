// One call as its handler sees it: how long it may wait, whether anybody still wants the answer, and where
// the answer goes. Handlers know absl::Status and frames; gRPC begins behind these interfaces.
//
// Threads:   any method, any thread, any time; no method calls the handler back while it holds a lock.
// Ownership: by shared_ptr. A call object outlives the RPC itself: a callback of the store that arrives
//            late, after the client went away, finds the call finished and its answer is dropped.
// Ending:    the first Respond or Finish counts, all later ones are ignored. When the client cancels, its
//            deadline passes or the connection breaks, the call ends by itself, see EndStatus.

#ifndef POSENC_SERVER_RPC_CALLS_CALL_H_
#define POSENC_SERVER_RPC_CALLS_CALL_H_

#include <cstdint>
#include <memory>
#include <mutex>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/rpc/calls/frame.h"
#include "server/tables/store/table_store.h"

namespace posenc {

class Call {
 public:
  // `client_deadline` may be InfiniteFuture; `max_memory_wait` bounds one wait for memory.
  Call(absl::Time client_deadline, absl::Duration max_memory_wait);
  virtual ~Call() = default;

  // Who asks, for the store's shares; nobody's once the RPC is over.
  virtual PeerId peer() { return PeerId(); }

  // When long work must have ended: the client's deadline less a margin, so that our own status arrives
  // before the client gives up.
  absl::Time work_deadline() const { return work_deadline_; }

  // When a wait for memory that begins now must end.
  absl::Time memory_deadline() const;

  // True once nobody waits for the answer.
  bool cancelled() const;

  // The status of a call that nobody waits for: DEADLINE_EXCEEDED once its deadline has passed, which may
  // reach the client before its own timer does, else CANCELLED.
  absl::Status EndStatus() const;

  // Starts a request to the store: `start` returns its ticket, which the end of the call cancels. Requests
  // of one call follow one another; the next one may start from the callback of the one before, and so
  // before that one's own `start` has returned.
  template <typename Start>
  void StartRequest(Start&& start) {
    const int64_t number = NextRequest();
    SetTicket(number, start());
  }

 protected:
  // Marks the call as ended and cancels its ticket.
  void CancelWork();

 private:
  int64_t NextRequest();
  // Keeps the ticket unless that of a later request is there already; cancels it when the call has ended.
  void SetTicket(int64_t number, std::shared_ptr<FetchTicket> ticket);

  bool Expired() const;

  const absl::Time client_deadline_;
  const absl::Time work_deadline_;
  const absl::Duration max_memory_wait_;
  mutable std::mutex ticket_mutex_;
  // Guarded by ticket_mutex_:
  bool cancelled_ = false;
  int64_t last_request_ = 0;
  int64_t ticket_number_ = 0;
  std::shared_ptr<FetchTicket> ticket_;
};

// A call with one answer.
class UnaryCall : public Call {
 public:
  using Call::Call;
  virtual void Respond(absl::StatusOr<Frame> answer) = 0;
};

// Whoever produces the messages of a streaming call.
class StreamProducer {
 public:
  virtual ~StreamProducer() = default;
  // The message before has been taken by the transport: the next Write is allowed.
  virtual void OnWritten() = 0;
};

// A call whose answer is a stream of messages, written one at a time.
class StreamCall : public Call {
 public:
  using Call::Call;

  // Names the producer, before the first Write. The call lets go of it when the RPC is over.
  virtual void SetProducer(std::shared_ptr<StreamProducer> producer) = 0;

  // Writes one message. Requires: it is the first one, or OnWritten came after the one before.
  virtual void Write(Frame message) = 0;
  // Writes the last message and ends the call with OK.
  virtual void WriteLast(Frame message) = 0;
  // Ends the call, after the message in flight if there is one.
  virtual void Finish(absl::Status status) = 0;
};

}  // namespace posenc

#endif  // POSENC_SERVER_RPC_CALLS_CALL_H_
