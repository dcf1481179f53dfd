// The flags that select a part of a table: --rows, --positions, --cols, …; for biases and maps --q, --k and
// --head-range.

#ifndef POSENC_CLIENT_CLI_FLAGS_SELECTION_FLAGS_H_
#define POSENC_CLIENT_CLI_FLAGS_SELECTION_FLAGS_H_

#include <optional>
#include <string>

#include "CLI/CLI.hpp"
#include "posenc/client.h"

namespace posenc::cli {

// Must outlive the parsing.
class SelectionFlags {
 public:
  // Declares the flags that tables of a family have.
  void AddTo(CLI::App& command, const FamilySpec& family);
  // Declares all of them.
  void AddAllTo(CLI::App& command);

  const Selection& selection() const { return selection_; }

 private:
  void AddRange(CLI::App& command, const std::string& flag, std::optional<Range> Selection::*member,
                const std::string& help);
  template <typename Parse, typename Value>
  void AddList(CLI::App& command, const std::string& flag, Parse parse, Value Selection::*member,
               const std::string& help);
  void AddColumns(CLI::App& command);
  void AddPositions(CLI::App& command);

  Selection selection_;
};

}  // namespace posenc::cli

#endif  // POSENC_CLIENT_CLI_FLAGS_SELECTION_FLAGS_H_
