// Fetches what a command works on.

#ifndef POSENC_CLIENT_CLI_COMMANDS_FETCH_H_
#define POSENC_CLIENT_CLI_COMMANDS_FETCH_H_

#include <memory>

#include "client/cli/command.h"
#include "client/cli/flags/spec_flags.h"
#include "posenc/client.h"

namespace posenc::cli {

// A connection, and the table that flags ask for.
struct Subject {
  std::shared_ptr<Connection> connection = {};
  TableSpec spec = {};
};

// Connects as the global flags say and resolves the spec's flags.
Outcome OpenSubject(const Session& session, const SpecFlags& flags, Subject& subject);

// Fetches a part of the table, with a progress bar for long reads.
Outcome FetchPart(const Session& session, const Subject& subject, const Selection& selection, Table& table);

// Asks what the table is.
Outcome DescribeSubject(const Session& session, const Subject& subject, TableDescription& description);

}  // namespace posenc::cli

#endif  // POSENC_CLIENT_CLI_COMMANDS_FETCH_H_
