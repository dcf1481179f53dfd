#include "client/python/binding/connections.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "client/python/binding/errors.h"
#include "client/python/binding/python_values.h"
#include "posenc/connect.h"
#include "server/models/tensors/stored_tensors.h"

namespace posenc::python {
namespace {

namespace py = pybind11;

// The keyword arguments of one call; every one must be taken.
class Options {
 public:
  Options(std::string function, const py::kwargs& given) : function_(std::move(function)), given_(given) {}

  // Reads an option, where it is given and not None, into `value`.
  template <typename T>
  void Read(const std::string& name, T& value) {
    const py::object object = Take(name);
    if (object.is_none()) return;
    if (!FromPython(object, value)) Refuse(name, object, AllowedText<T>());
  }

  // The same for what must be `low` or more.
  template <typename T>
  void ReadAtLeast(const std::string& name, int64_t low, T& value) {
    const py::object object = Take(name);
    if (object.is_none()) return;
    int64_t number = 0;
    if (!FromPython(object, number) || number < low || std::cmp_greater(number, std::numeric_limits<T>::max())) {
      Refuse(name, object, absl::StrCat("an integer of ", low, " or more"));
    }
    value = static_cast<T>(number);
  }

  void ReadSeconds(const std::string& name, absl::Duration& value) {
    double seconds = absl::ToDoubleSeconds(value);
    const py::object object = Take(name);
    if (object.is_none()) return;
    if (!FromPython(object, seconds) || !(seconds > 0)) Refuse(name, object, "seconds, more than 0");
    value = absl::Seconds(seconds);
  }

  py::object Take(const std::string& name) {
    known_.push_back(name);
    if (!given_.contains(name.c_str())) return py::none();
    return given_[name.c_str()];
  }

  [[noreturn]] void Refuse(const std::string& name, const py::object& object, const std::string& allowed) const {
    const std::string text = py::repr(object);
    RaiseWrongArgument(name, text, allowed, absl::StrCat(name, " is ", text, "; allowed: ", allowed));
  }

  // Raises for an option that nothing took.
  void RequireAllTaken() const {
    for (const auto& [key, value] : given_) {
      const std::string name = py::str(key);
      if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
      const std::string allowed = absl::StrJoin(known_, ", ");
      RaiseWrongArgument(name, py::repr(value).cast<std::string>(), allowed,
                         absl::StrCat(function_, " has no keyword '", name, "'; allowed: ", allowed));
    }
  }

 private:
  const std::string function_;
  const py::kwargs& given_;
  std::vector<std::string> known_;
};

// learned={"wpe": "model.safetensors:wpe.weight"}: the CLI's --learned.
std::shared_ptr<const TensorCatalog> ReadCatalog(Options& options) {
  const py::object learned = options.Take("learned");
  if (learned.is_none()) return nullptr;
  if (!py::isinstance<py::dict>(learned)) options.Refuse("learned", learned, "a dict of names to FILE:TENSOR");
  std::vector<TensorSource> sources;
  for (const auto& [name, file] : learned.cast<py::dict>()) {
    sources.push_back(ValueOrRaise(ParseTensorSource(
        absl::StrCat(py::str(name).cast<std::string>(), "=", py::str(file).cast<std::string>()))));
  }
  return ValueOrRaise(LoadTensorCatalog(sources));
}

void ReadTls(Options& options, std::optional<TlsOptions>& tls) {
  const py::object given = options.Take("tls");
  if (given.is_none() || given.is(py::bool_(false))) return;
  tls.emplace();
  if (given.is(py::bool_(true))) return;
  const std::string allowed =
      "True, False, or a dict of root_certificates, certificate_chain, private_key: PEM texts";
  if (!py::isinstance<py::dict>(given)) options.Refuse("tls", given, allowed);
  for (const auto& [key, value] : given.cast<py::dict>()) {
    const std::string name = py::str(key);
    std::string* const text = name == "root_certificates"   ? &tls->root_certificates
                              : name == "certificate_chain" ? &tls->certificate_chain
                              : name == "private_key"       ? &tls->private_key
                                                            : nullptr;
    if (text == nullptr || !(py::isinstance<py::str>(value) || py::isinstance<py::bytes>(value))) {
      options.Refuse("tls", py::str(name), allowed);
    }
    *text = value.cast<std::string>();
  }
}

TableSource ReadSource(Options& options) {
  static constexpr std::array<std::pair<absl::string_view, TableSource>, 3> kNames = {{
      {"service", TableSource::kStream},
      {"verified", TableSource::kVerifiedLocal},
      {"automatic", TableSource::kAutomatic},
  }};
  const py::object given = options.Take("source");
  if (given.is_none()) return TableSource::kStream;
  for (const auto& [name, source] : kNames) {
    if (given.equal(py::str(std::string(name)))) return source;
  }
  options.Refuse("source", given, "'service', 'verified', 'automatic'");
}

// Puts a near cache in front where near_cache=BYTES asks for it.
void AddCache(std::optional<uint64_t> bytes, PythonClient& client) {
  if (!bytes) return;
  client.cache = MakeCachingConnection(client.outermost, {.max_bytes = *bytes});
  client.outermost = client.cache;
}

std::optional<uint64_t> ReadCacheBytes(Options& options) {
  uint64_t bytes = 0;
  options.ReadAtLeast("near_cache", 0, bytes);
  return bytes == 0 ? std::nullopt : std::optional(bytes);
}

// Raises where gRPC would wait for ever: its threads stay behind in the process that was forked.
void RequireNoForkSinceFirstClient() {
  static std::atomic<pid_t> first{0};
  pid_t nobody = 0;
  if (first.compare_exchange_strong(nobody, getpid()) || nobody == getpid()) return;
  Raise(absl::FailedPreconditionError(
      "the process that this one was forked off has made a client of a service before; allowed: clients made in "
      "children alone, processes that are spawned (multiprocessing's 'spawn' or 'forkserver'), posenc.local()"));
}

}  // namespace

PythonClient::~PythonClient() {
  if (getpid() != process_ && !target.empty()) {
    // Letting go would wait for threads that are not in this process.
    new auto(std::move(outermost));
    new auto(std::move(cache));
    new auto(std::move(fallback));
    new auto(std::move(verified));
    return;
  }
  py::gil_scoped_release released;
  outermost.reset();
  cache.reset();
  fallback.reset();
  verified.reset();
}

Connection& PythonClient::connection() const {
  if (!target.empty() && getpid() != process_) {
    Raise(absl::FailedPreconditionError(
        absl::StrCat("this client of ", target, " was made before the process was forked; make one after it")));
  }
  return *outermost;
}

std::unique_ptr<PythonClient> ConnectFromPython(const std::string& target, const py::kwargs& given) {
  RequireNoForkSinceFirstClient();
  Options options("Client", given);
  ConnectionOptions connection;
  bool fallback = false;
  options.ReadSeconds("timeout", connection.timeout);
  options.Read("token", connection.token);
  ReadTls(options, connection.tls);
  options.Read("fallback", fallback);
  if (fallback) {
    // An outage is noticed soon: see MakeConnectionWithFallback.
    connection.retry.max_attempts = 2;
    connection.wait_for_ready = false;
  }
  options.ReadAtLeast("max_attempts", 1, connection.retry.max_attempts);
  options.Read("wait_for_ready", connection.wait_for_ready);
  options.Read("shared_memory", connection.shared_memory);
  options.ReadAtLeast("parallel_streams", 1, connection.parallel_streams);
  options.ReadAtLeast("max_table_bytes", 1, connection.max_table_bytes);
  const std::optional<uint64_t> cache_bytes = ReadCacheBytes(options);
  const TableSource source = ReadSource(options);
  const std::shared_ptr<const TensorCatalog> catalog = ReadCatalog(options);
  options.RequireAllTaken();

  auto client = std::make_unique<PythonClient>();
  client->target = target;
  client->outermost = MakeConnection(target, connection);
  if (source != TableSource::kStream) {
    client->verified = MakeVerifiedLocalConnection(
        client->outermost,
        {.source = source, .catalog = catalog, .max_table_bytes = connection.max_table_bytes});
    client->outermost = client->verified;
  }
  if (fallback) {
    client->fallback = MakeConnectionWithFallback(client->outermost, MakeLocalConnection(catalog));
    client->outermost = client->fallback;
  }
  AddCache(cache_bytes, *client);
  return client;
}

std::unique_ptr<PythonClient> LocalFromPython(const py::kwargs& given) {
  Options options("local", given);
  const std::optional<uint64_t> cache_bytes = ReadCacheBytes(options);
  const std::shared_ptr<const TensorCatalog> catalog = ReadCatalog(options);
  options.RequireAllTaken();
  auto client = std::make_unique<PythonClient>();
  client->outermost = MakeLocalConnection(catalog);
  AddCache(cache_bytes, *client);
  return client;
}

py::dict StatsOf(const PythonClient& client) {
  py::dict all;
  if (client.cache) {
    const NearCacheStats stats = client.cache->stats();
    using namespace py::literals;
    all["near_cache"] = py::dict("hits"_a = stats.hits, "derived"_a = stats.derived, "misses"_a = stats.misses,
                                 "coalesced"_a = stats.coalesced, "evictions"_a = stats.evictions,
                                 "answers"_a = stats.answers, "bytes"_a = stats.bytes);
  }
  if (client.fallback) {
    const FallbackStats stats = client.fallback->stats();
    using namespace py::literals;
    all["fallback"] = py::dict(
        "answered_by_service"_a = stats.answered_by_service, "answered_locally"_a = stats.answered_locally,
        "continued_locally"_a = stats.continued_locally, "failed"_a = stats.failed,
        "outages"_a = stats.outages, "service_in_use"_a = stats.service_in_use,
        "last_reason"_a = stats.last_reason);
  }
  if (client.verified) {
    const VerifiedStats stats = client.verified->stats();
    using namespace py::literals;
    all["verified"] = py::dict(
        "verified_answers"_a = stats.verified_answers, "verified_bytes"_a = stats.verified_bytes,
        "received_answers"_a = stats.received_answers, "mismatched_chunks"_a = stats.mismatched_chunks,
        "mismatched_rows"_a = stats.mismatched_rows, "other_tables"_a = stats.other_tables,
        "last_mismatch"_a = stats.last_mismatch, "link_bytes_per_second"_a = stats.link_bytes_per_second);
  }
  return all;
}

}  // namespace posenc::python
