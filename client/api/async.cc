#include "posenc/async.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <type_traits>
#include <unordered_set>

#include "absl/time/clock.h"
#include "posenc/client.h"

namespace posenc {

// The calls under way, and the threads for those that need one.
class AsyncClient::Calls {
 public:
  Calls(std::shared_ptr<Connection> connection, int threads);
  ~Calls();

  const std::shared_ptr<Connection>& connection() const { return connection_; }

  AsyncCall Fetch(const FetchParams& params, Callback<Table> done);

  // Calls `ask` on a thread of this client.
  template <typename Answer>
  AsyncCall Ask(const CallOptions& call, std::function<Answer(const CallOptions&)> ask,
                std::function<void(Answer)> done) {
    const auto op = Begin<Answer>(call, std::move(done));
    Enqueue<Answer>(op, call, std::move(ask));
    return AsyncCall(op->stop);
  }

 private:
  struct Operation {
    std::stop_source stop = {};
    absl::Time begun = absl::Now();
    std::optional<std::stop_callback<std::function<void()>>> from_caller = {};
  };
  template <typename Answer>
  struct OperationOf : Operation {
    std::function<void(Answer)> done;
  };

  template <typename Answer>
  std::shared_ptr<OperationOf<Answer>> Begin(const CallOptions& call, std::function<void(Answer)> done) {
    auto op = std::make_shared<OperationOf<Answer>>();
    op->done = std::move(done);
    if (call.stop.stop_possible()) {
      op->from_caller.emplace(call.stop, [stop = op->stop]() mutable { stop.request_stop(); });
    }
    Register(*op);
    return op;
  }

  // The last that happens to a call: its callback is gone before the client may be.
  template <typename Answer>
  void Finish(OperationOf<Answer>& op, Answer answer) {
    {
      const auto done = std::exchange(op.done, nullptr);
      done(std::move(answer));
    }
    Unregister(op);
  }

  template <typename Answer>
  void Enqueue(std::shared_ptr<OperationOf<Answer>> op, const CallOptions& call,
               std::function<Answer(const CallOptions&)> ask) {
    Push([this, op, call, ask = std::move(ask)] {
      const absl::StatusOr<CallOptions> rest = WhatIsLeft(*op, call);
      Finish<Answer>(*op, rest.ok() ? ask(*rest) : Answer(rest.status()));
    });
  }

  static absl::StatusOr<CallOptions> WhatIsLeft(const Operation& op, const CallOptions& call);
  void Register(const Operation& op);
  void Unregister(const Operation& op);
  void Push(std::function<void()> task);
  void Work();

  const std::shared_ptr<Connection> connection_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // All below guarded by mutex_.
  std::unordered_set<const Operation*> under_way_;
  std::deque<std::function<void()>> tasks_;
  bool closing_ = false;  // calls are cancelled as they begin
  bool closed_ = false;   // there will be no more tasks
  std::vector<std::jthread> threads_;  // not guarded; joined first
};

AsyncClient::Calls::Calls(std::shared_ptr<Connection> connection, int threads)
    : connection_(std::move(connection)) {
  try {
    for (int i = 0; i < std::max(threads, 1); ++i) threads_.emplace_back([this] { Work(); });
  } catch (const std::system_error&) {
    // No more threads to be had: those that run do the work. They cannot be left waiting for an end.
    if (threads_.empty()) throw;
  }
}

AsyncClient::Calls::~Calls() {
  std::vector<std::stop_source> stops;
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    for (const Operation* op : under_way_) stops.push_back(op->stop);
  }
  // Without the lock, since whatever a stop does happens here.
  for (std::stop_source& stop : stops) stop.request_stop();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return under_way_.empty(); });
  closed_ = true;
  changed_.notify_all();
}

void AsyncClient::Calls::Register(const Operation& op) {
  bool closing = false;
  {
    const std::lock_guard lock(mutex_);
    under_way_.insert(&op);
    closing = closing_;
  }
  if (closing) std::stop_source(op.stop).request_stop();
}

void AsyncClient::Calls::Unregister(const Operation& op) {
  const std::lock_guard lock(mutex_);
  under_way_.erase(&op);
  // Under the lock: the destructor goes on as soon as it can have it.
  changed_.notify_all();
}

void AsyncClient::Calls::Push(std::function<void()> task) {
  const std::lock_guard lock(mutex_);
  tasks_.push_back(std::move(task));
  changed_.notify_all();
}

void AsyncClient::Calls::Work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return !tasks_.empty() || closed_; });
    if (tasks_.empty()) return;
    std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
    task = nullptr;
    lock.lock();
  }
}

absl::StatusOr<CallOptions> AsyncClient::Calls::WhatIsLeft(const Operation& op, const CallOptions& call) {
  if (op.stop.stop_requested()) return absl::CancelledError("stopped by the caller");
  CallOptions rest = call;
  rest.stop = op.stop.get_token();
  if (!rest.timeout) return rest;
  *rest.timeout -= absl::Now() - op.begun;
  if (*rest.timeout > absl::ZeroDuration()) return rest;
  return absl::DeadlineExceededError("the time was up before a thread was free; see AsyncOptions::threads");
}

AsyncCall AsyncClient::Calls::Fetch(const FetchParams& params, Callback<Table> done) {
  using Answer = absl::StatusOr<Table>;
  const auto op = Begin<Answer>(params.call, std::move(done));
  const auto fetch_on_thread = [this, op, params] {
    Enqueue<Answer>(op, params.call, [this, params](const CallOptions& rest) {
      FetchParams own = params;
      own.call = rest;
      return connection_->Fetch(own);
    });
  };
  FetchParams own = params;
  own.call.stop = op->stop.get_token();
  const bool begun = connection_->FetchAsync(own, [this, op, fetch_on_thread](Answer answer) {
    if (answer.status().code() == absl::StatusCode::kFailedPrecondition) return fetch_on_thread();
    Finish(*op, std::move(answer));
  });
  if (!begun) fetch_on_thread();
  return AsyncCall(op->stop);
}

namespace {

// Returns the future of a call that `begin` begins with a callback.
template <typename Answer, typename Begin>
std::future<Answer> FutureOf(const Begin& begin) {
  auto promise = std::make_shared<std::promise<Answer>>();
  std::future<Answer> future = promise->get_future();
  begin([promise](Answer answer) { promise->set_value(std::move(answer)); });
  return future;
}

Selection AllOf(std::vector<int64_t> positions) {
  Selection selection;
  selection.positions = std::move(positions);
  return selection;
}

}  // namespace

AsyncClient::AsyncClient(std::shared_ptr<Connection> connection, const AsyncOptions& options)
    : calls_(std::make_unique<Calls>(std::move(connection), options.threads)) {}

AsyncClient::~AsyncClient() = default;

AsyncCall AsyncClient::Slice(const TableRequest& table, const Selection& selection, Callback<Table> done,
                             const CallOptions& call) {
  return calls_->Fetch({.spec = table.spec(), .selection = selection, .call = call}, std::move(done));
}

AsyncClient::Future<Table> AsyncClient::Slice(const TableRequest& table, const Selection& selection,
                                              const CallOptions& call) {
  return FutureOf<absl::StatusOr<Table>>([&](Callback<Table> done) {
    // A near cache's answer is there at once.
    std::optional<Table> known = calls_->connection()->Recall(table.spec(), selection);
    if (known) return done(*std::move(known));
    Slice(table, selection, std::move(done), call);
  });
}

AsyncCall AsyncClient::Get(const TableRequest& table, Callback<Table> done, const CallOptions& call) {
  return Slice(table, Selection(), std::move(done), call);
}

AsyncClient::Future<Table> AsyncClient::Get(const TableRequest& table, const CallOptions& call) {
  return Slice(table, Selection(), call);
}

AsyncCall AsyncClient::Gather(const TableRequest& table, std::vector<int64_t> positions, Callback<Table> done,
                              const CallOptions& call) {
  if (!positions.empty()) return Slice(table, AllOf(std::move(positions)), std::move(done), call);
  // Client knows what is wrong with that.
  return calls_->Ask<absl::StatusOr<Table>>(
      call,
      [client = Client(calls_->connection()), table](const CallOptions& rest) mutable {
        return client.Gather(table, {}, rest);
      },
      std::move(done));
}

AsyncClient::Future<Table> AsyncClient::Gather(const TableRequest& table, std::vector<int64_t> positions,
                                               const CallOptions& call) {
  if (!positions.empty()) return Slice(table, AllOf(std::move(positions)), call);
  return FutureOf<absl::StatusOr<Table>>(
      [&](Callback<Table> done) { Gather(table, {}, std::move(done), call); });
}

AsyncCall AsyncClient::ReadInto(const TableRequest& table, const Selection& selection, Memory destinations,
                                StatusCallback done, const CallOptions& call) {
  return calls_->Ask<absl::Status>(
      call,
      [client = Client(calls_->connection()), table, selection,
       destinations = std::move(destinations)](const CallOptions& rest) mutable {
        return client.ReadInto(table, selection, destinations, rest);
      },
      std::move(done));
}

std::future<absl::Status> AsyncClient::ReadInto(const TableRequest& table, const Selection& selection,
                                                Memory destinations, const CallOptions& call) {
  return FutureOf<absl::Status>([&](StatusCallback done) {
    ReadInto(table, selection, std::move(destinations), std::move(done), call);
  });
}

AsyncCall AsyncClient::Describe(const TableRequest& table, Callback<TableDescription> done,
                                const CallOptions& call) {
  return calls_->Ask<absl::StatusOr<TableDescription>>(
      call,
      [client = Client(calls_->connection()), table](const CallOptions& rest) mutable {
        return client.Describe(table, rest);
      },
      std::move(done));
}

AsyncClient::Future<TableDescription> AsyncClient::Describe(const TableRequest& table, const CallOptions& call) {
  return FutureOf<absl::StatusOr<TableDescription>>(
      [&](Callback<TableDescription> done) { Describe(table, std::move(done), call); });
}

AsyncCall AsyncClient::ResolveModel(ModelQuery query, Callback<ModelTables> done, const CallOptions& call) {
  return calls_->Ask<absl::StatusOr<ModelTables>>(
      call,
      [client = Client(calls_->connection()), query = std::move(query)](const CallOptions& rest) mutable {
        return client.ResolveModel(query, rest);
      },
      std::move(done));
}

AsyncClient::Future<ModelTables> AsyncClient::ResolveModel(ModelQuery query, const CallOptions& call) {
  return FutureOf<absl::StatusOr<ModelTables>>(
      [&](Callback<ModelTables> done) { ResolveModel(std::move(query), std::move(done), call); });
}

}  // namespace posenc
