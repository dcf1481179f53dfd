#include "server/rpc/calls/exceptions.h"

#include <exception>
#include <new>
#include <stdexcept>

#include "absl/strings/str_cat.h"

namespace posenc {

absl::Status StatusOfException() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError("the server is out of memory");
  } catch (const std::length_error&) {
    return absl::ResourceExhaustedError("the answer needs more memory than can be addressed");
  } catch (const std::exception& error) {
    return absl::InternalError(absl::StrCat("unexpected exception: ", error.what()));
  } catch (...) {
    return absl::InternalError("unexpected exception");
  }
}

}  // namespace posenc
