// The calls of RemoteConnection that block no thread.

#include <grpcpp/alarm.h>
#include <grpcpp/generic/generic_stub.h>

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

#include "absl/time/clock.h"
#include "client/local/estimate.h"
#include "client/remote/remote_connection.h"
#include "client/remote/slice_call.h"
#include "client/remote/slice_request.h"
#include "client/remote/unary_slice.h"

namespace posenc {

// One call with its retries. It keeps itself alive: whatever will call it next holds a reference.
//
// Threads: Start on the caller's; the rest one after the other on gRPC's, but for Stop, which may come at
// any time.
class RemoteConnection::AsyncFetch : public std::enable_shared_from_this<AsyncFetch> {
 public:
  using Done = std::function<void(absl::StatusOr<Table>)>;

  AsyncFetch(RemoteConnection& connection, const FetchParams& params, double bytes, Done done)
      : connection_(connection),
        counted_(connection.async_fetches_),
        stub_(connection.channels_.small),
        begin_(connection.environment_.now()),
        deadline_(begin_ + connection.TimeoutOf(params.call, bytes)),
        loop_(connection.options_.retry, connection.environment_, connection.budget_, deadline_),
        stop_(params.call.stop),
        spec_(params.spec),
        selection_(params.selection),
        done_(std::move(done)) {
    const grpc::Slice slice(GetSliceRequestBytes(params.spec, params.selection));
    request_ = grpc::ByteBuffer(&slice, 1);
  }

  void Start() {
    Attempt();
    // Not before there is something to cancel. It must not keep this object: it is a part of it.
    on_stop_.emplace(stop_, Stopper{weak_from_this()});
  }

 private:
  class Counted {
   public:
    explicit Counted(AsyncFetches& all) : all_(all) {
      const std::lock_guard lock(all_.mutex);
      ++all_.count;
    }
    ~Counted() {
      const std::lock_guard lock(all_.mutex);
      if (--all_.count == 0) all_.none.notify_all();
    }

   private:
    AsyncFetches& all_;
  };

  struct Stopper {
    std::weak_ptr<AsyncFetch> fetch;
    void operator()() const {
      if (const std::shared_ptr<AsyncFetch> alive = fetch.lock()) alive->Stop();
    }
  };

  void Attempt() {
    grpc::ClientContext* context = nullptr;
    {
      const std::lock_guard lock(mutex_);
      context = &contexts_.emplace_back();
    }
    connection_.Prepare(*context, deadline_, loop_.attempts() > 1);
    if (stop_.stop_requested()) context->TryCancel();
    response_.Clear();
    stub_.UnaryCall(context, kGetSlice, grpc::StubOptions(), &request_, &response_,
                    [self = shared_from_this()](const grpc::Status& status) { self->OnAnswer(status); });
  }

  void OnAnswer(const grpc::Status& ended) {
    if (ended.ok()) return OnMessage();
    absl::Status status = UnaskedCancelAsUnavailable(FromGrpc(ended), stop_);
    if (stop_.stop_requested()) return done_(absl::CancelledError("stopped by the caller"));
    if (first_error_.ok()) first_error_ = status;
    if (const std::optional<absl::Duration> delay = loop_.DelayOfRetry(status)) return RetryAfter(*delay);
    // As in Run.
    if (status.code() == absl::StatusCode::kDeadlineExceeded) status = {status.code(), first_error_.message()};
    done_(connection_.Explain(status, loop_.attempts(), connection_.environment_.now() - begin_));
  }

  void RetryAfter(absl::Duration delay) {
    const std::lock_guard lock(mutex_);
    // Not in the alarm's function, which lives as long as the alarm, and that as long as this object.
    waiting_ = shared_from_this();
    retries_.emplace_back().Set(absl::ToChronoTime(absl::Now() + delay), [this](bool) {
      const std::shared_ptr<AsyncFetch> self = std::move(waiting_);
      Attempt();
    });
    if (stop_.stop_requested()) retries_.back().Cancel();
  }

  void OnMessage() {
    // Not in Start, which is to return at once.
    const ExpectedAnswer expected = connection_.expected_answers_.Of(spec_, selection_);
    absl::StatusOr<Table> table = TableFrom(response_, expected, connection_.options_.max_table_bytes);
    if (table.ok()) connection_.budget_.GiveForSuccess();
    done_(std::move(table));
  }

  void Stop() {
    grpc::ClientContext* latest = nullptr;
    {
      const std::lock_guard lock(mutex_);
      latest = &contexts_.back();
      if (!retries_.empty()) retries_.back().Cancel();
    }
    // Without the lock: gRPC may run OnAnswer inside.
    latest->TryCancel();
  }

  RemoteConnection& connection_;
  const Counted counted_;  // before everything that holds the channel, and so destroyed after it
  grpc::GenericStub stub_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer response_;
  const absl::Time begin_;
  const absl::Time deadline_;
  RetryLoop loop_;
  absl::Status first_error_;
  const std::stop_token stop_;
  const TableSpec spec_;
  const Selection selection_;
  const Done done_;
  std::mutex mutex_;
  // One for each attempt, kept so that Stop may be late. Guarded by mutex_.
  std::deque<grpc::ClientContext> contexts_;
  std::deque<grpc::Alarm> retries_;  // one for each retry, guarded by mutex_
  std::shared_ptr<AsyncFetch> waiting_;
  std::optional<std::stop_callback<Stopper>> on_stop_;
};

RemoteConnection::~RemoteConnection() {
  std::unique_lock lock(async_fetches_.mutex);
  async_fetches_.none.wait(lock, [this] { return async_fetches_.count == 0; });
}

bool RemoteConnection::FetchAsync(const FetchParams& params, std::function<void(absl::StatusOr<Table>)> done) {
  const double bytes = EstimateBytes(params.spec, params.selection);
  if (!FitsOneMessage(params.spec, params.selection, bytes) || !CheckCall(params.call).ok()) return false;
  std::make_shared<AsyncFetch>(*this, params, bytes, std::move(done))->Start();
  return true;
}

}  // namespace posenc
