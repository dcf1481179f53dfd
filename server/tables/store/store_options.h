// What a table store is made with.

#ifndef POSENC_SERVER_TABLES_STORE_STORE_OPTIONS_H_
#define POSENC_SERVER_TABLES_STORE_STORE_OPTIONS_H_

#include <cstddef>
#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "server/core/limits.h"
#include "server/core/specs/spec.h"
#include "server/encodings/table_generator.h"

namespace posenc {

struct TableStoreOptions {
  size_t budget_bytes = size_t{1} << 30;
  size_t block_bytes = limits::kDefaultBlockBytes;
  int threads = 0;  // workers that generate; 0: one for each CPU
  // Makes the generators, on workers; null: MakeTableGenerator. For tests.
  std::function<absl::StatusOr<std::shared_ptr<const TableGenerator>>(const TableSpec&)> make_generator =
      nullptr;
};

}  // namespace posenc

#endif  // POSENC_SERVER_TABLES_STORE_STORE_OPTIONS_H_
