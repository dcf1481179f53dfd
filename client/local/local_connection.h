// MakeLocalConnection's connection, with the bound on what it allocates as a parameter.

#ifndef POSENC_CLIENT_LOCAL_LOCAL_CONNECTION_H_
#define POSENC_CLIENT_LOCAL_LOCAL_CONNECTION_H_

#include <cstdint>
#include <memory>

#include "posenc/connect.h"

namespace posenc {

// Refuses answers over `max_table_bytes` with ResourceExhausted, as a connection to a service does.
std::shared_ptr<Connection> MakeBoundedLocalConnection(std::shared_ptr<const TensorCatalog> catalog,
                                                       uint64_t max_table_bytes);

}  // namespace posenc

#endif  // POSENC_CLIENT_LOCAL_LOCAL_CONNECTION_H_
