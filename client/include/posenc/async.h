// A client whose calls return at once.
//
//   posenc::AsyncClient client(posenc::MakeConnection("dns:///posenc:50051"));
//   std::future<absl::StatusOr<posenc::Table>> rope = client.Get(posenc::Rope{.head_dim = 128});
//   …
//   if (!rope.get().ok()) …
//
//   posenc::AsyncCall call = client.Slice(rope_spec, {.rows = posenc::Range{0, 128}},
//                                         [](absl::StatusOr<posenc::Table> rows) { … });
//   call.Cancel();
//
// Every call has two forms: without a callback it returns a future, with one a handle. The arguments, answers
//   and errors are those of Client.
// Threads: any method, any thread. Small slices of a service (up to 1 MiB) take no thread at all; everything
//   else, and every slice of other connections, waits for one of AsyncOptions::threads. A callback runs once,
//   on a thread of gRPC's or of this client, never inside the call that it belongs to; several may run at the
//   same time. It must not throw, nor block for long: others wait behind it. It may begin further calls.
// Timeouts: count from the call, the wait for a thread included; the usual one, of a call that gives none,
//   counts from when it has a thread.
// Cancelling: AsyncCall::Cancel, or a stop of CallOptions::stop, which is the way with futures. A call to a
//   service ends, there as well, and its answer is Cancelled. One that computes in this process ends as it
//   would have; one that waits for a thread is answered when its turn comes.
// Destruction: cancels what is under way and returns once every callback has returned and every future has its
//   answer; none runs afterwards. Callbacks may begin calls until then, which are cancelled. Destroying the
//   client inside a callback would wait for itself, and must not be done.

#ifndef POSENC_ASYNC_H_
#define POSENC_ASYNC_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "posenc/connect.h"
#include "posenc/connection.h"
#include "posenc/results.h"
#include "posenc/specs.h"
#include "posenc/table.h"

namespace posenc {
inline namespace client_v1 {

struct AsyncOptions {
  int threads = 2;  // at least one
};

// A call that was begun. A handle: copies are the same call. Letting go of it changes nothing.
class AsyncCall {
 public:
  explicit AsyncCall(std::stop_source stop) : stop_(std::move(stop)) {}

  // Does nothing once the call has ended.
  void Cancel() { stop_.request_stop(); }

 private:
  std::stop_source stop_;
};

class AsyncClient {
 public:
  template <typename T>
  using Future = std::future<absl::StatusOr<T>>;
  template <typename T>
  using Callback = std::function<void(absl::StatusOr<T>)>;
  using StatusCallback = std::function<void(absl::Status)>;
  using Memory = std::vector<std::span<std::byte>>;  // must stay until the call has ended

  explicit AsyncClient(std::shared_ptr<Connection> connection, const AsyncOptions& options = {});
  ~AsyncClient();
  AsyncClient(const AsyncClient&) = delete;
  AsyncClient& operator=(const AsyncClient&) = delete;

  Future<Table> Get(const TableRequest& table, const CallOptions& call = {});
  AsyncCall Get(const TableRequest& table, Callback<Table> done, const CallOptions& call = {});

  Future<Table> Slice(const TableRequest& table, const Selection& selection, const CallOptions& call = {});
  AsyncCall Slice(const TableRequest& table, const Selection& selection, Callback<Table> done,
                  const CallOptions& call = {});

  Future<Table> Gather(const TableRequest& table, std::vector<int64_t> positions, const CallOptions& call = {});
  AsyncCall Gather(const TableRequest& table, std::vector<int64_t> positions, Callback<Table> done,
                   const CallOptions& call = {});

  std::future<absl::Status> ReadInto(const TableRequest& table, const Selection& selection, Memory destinations,
                                     const CallOptions& call = {});
  AsyncCall ReadInto(const TableRequest& table, const Selection& selection, Memory destinations,
                     StatusCallback done, const CallOptions& call = {});

  Future<TableDescription> Describe(const TableRequest& table, const CallOptions& call = {});
  AsyncCall Describe(const TableRequest& table, Callback<TableDescription> done, const CallOptions& call = {});

  Future<ModelTables> ResolveModel(ModelQuery query, const CallOptions& call = {});
  AsyncCall ResolveModel(ModelQuery query, Callback<ModelTables> done, const CallOptions& call = {});

 private:
  class Calls;
  const std::unique_ptr<Calls> calls_;
};

}  // namespace client_v1
}  // namespace posenc

#endif  // POSENC_ASYNC_H_
