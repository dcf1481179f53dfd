// The tables that the files of --warm name.
//
// A file whose name ends in .json is a model's config.json and gives every table of the model, in the
// element type of --warm-dtype, but for those of weights that the server was not given (--learned); any
// other is one posenc.v1.TableSpec as textproto.
// Reads files; pure otherwise.

#ifndef POSENC_SERVER_APP_CONFIG_WARM_LIST_H_
#define POSENC_SERVER_APP_CONFIG_WARM_LIST_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/core/element_type.h"
#include "server/core/specs/spec.h"
#include "server/core/tensor_catalog.h"

namespace posenc {

struct WarmEntry {
  std::string name;  // the file, and the table's name where the file has several
  TableSpec spec;    // normalised and bound
};

// `catalog` has the stored tensors that the tables may name.
// Errors: the first file that cannot be read (NotFound) or does not name a table that can be served
// (the reason's own code); the message begins with the file.
absl::StatusOr<std::vector<WarmEntry>> LoadWarmList(const std::vector<std::string>& files,
                                                    ElementType config_element_type,
                                                    const TensorCatalog& catalog = EmptyCatalog());

}  // namespace posenc

#endif  // POSENC_SERVER_APP_CONFIG_WARM_LIST_H_
