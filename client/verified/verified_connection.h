// MakeVerifiedLocalConnection's connection, with the clock as a parameter.

#ifndef POSENC_CLIENT_VERIFIED_VERIFIED_CONNECTION_H_
#define POSENC_CLIENT_VERIFIED_VERIFIED_CONNECTION_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/api/forwarding_connection.h"
#include "client/local/local_slice.h"
#include "client/verified/link_meter.h"
#include "client/verified/verified_answer.h"
#include "posenc/verified.h"

namespace posenc {

class VouchedConnection : public ForwardingConnection<VerifiedConnection> {
 public:
  VouchedConnection(std::shared_ptr<Connection> service, const VerifiedOptions& options,
                    std::function<absl::Time()> now);

  absl::StatusOr<Table> Fetch(const FetchParams& params) override;
  absl::Status Stream(const StreamParams& params) override;

  VerifiedStats stats() const override;

 private:
  enum class Way : uint8_t { kReceive, kCompute, kMeasure };

  // Returns the slice, where this process can compute it and it is large enough.
  std::optional<LocalSlice> Computable(const TableSpec& spec, const Selection& selection) const;
  // Decides about the rows behind the first `skip_rows`.
  Way Choose(const LocalSlice& slice, int64_t skip_rows) const;
  bool ComputesFaster(const LocalSlice& slice, int64_t skip_rows, double link_bytes_per_second) const;
  int ThreadsFor(uint64_t bytes) const;

  // Streams until the link's rate is known, and on to the end if that is quicker than computing.
  absl::Status Measure(const LocalSlice& slice, const StreamParams& params, VerifiedAnswer& answer);
  // Completes the answer in that way. Requires: not kReceive.
  absl::Status Complete(Way way, const LocalSlice& slice, const StreamParams& params,
                        const std::function<void(int64_t)>& on_rows, VerifiedAnswer& answer);
  void Count(const LocalSlice& slice, const VerifiedAnswer& answer, bool computed);
  void CountReceived();

  const VerifiedOptions options_;
  const std::function<absl::Time()> now_;
  LinkRate link_;
  mutable std::mutex mutex_;
  VerifiedStats stats_;  // guarded by mutex_
};

}  // namespace posenc

#endif  // POSENC_CLIENT_VERIFIED_VERIFIED_CONNECTION_H_
