#include "server/app/server.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "server/app/config/units.h"
#include "server/app/lifecycle/exit_guard.h"
#include "server/app/listeners/rpc_methods.h"
#include "server/app/warmer.h"
#include "server/encodings/table_generator.h"
#include "server/rpc/services.h"
#include "server/tables/threads/steady_clock.h"

namespace posenc {
namespace {

// What cancelled calls have to end in, before the process ends without them.
constexpr absl::Duration kCancelledCallsTimeout = absl::Milliseconds(1500);

// What the program needs besides the budget: code, stacks, buffers of gRPC.
constexpr size_t kProgramBytes = size_t{64} << 20;

}  // namespace

Server::Server(ServerConfig config, std::shared_ptr<const TensorCatalog> catalog, std::vector<WarmEntry> warm,
               Logger& log, StopRequest& stop)
    : config_(std::move(config)),
      catalog_(std::move(catalog)),
      warm_(std::move(warm)),
      log_(log),
      stop_(stop),
      descriptors_(ShareDescriptors(RaiseDescriptorLimit(), !config_.shared_memory_socket.empty())),
      rpc_metrics_(registry_, ServedRpcMethods()),
      collector_(
          [this] {
            const TableStore* store = observed_store_;
            return store == nullptr ? StoreStats{} : store->stats();
          },
          lifecycle_, log, info_),
      health_(TableServiceNames()) {
  lifecycle_.SetWarmTables(static_cast<int>(warm_.size()));
}

absl::Status Server::Run() {
  absl::Status status = Start();
  if (status.ok()) stop_.Wait();
  // A stop during the start is no failure of it.
  if (stop_.requested()) status = absl::OkStatus();
  StopAll();
  return status;
}

absl::Status Server::Start() {
  log_.Info("starting", {{"version", info_.version},
                         {"revision", info_.revision},
                         {"kernel_target", info_.kernel_target},
                         {"cache_bytes", config_.cache_bytes},
                         {"max_connections", std::min(config_.max_connections, descriptors_.grpc)}});
  WarnOfMemoryLimit();
  using Phase = absl::Status (Server::*)();
  constexpr Phase kPhases[] = {&Server::StartTelemetry, &Server::StartStore,    &Server::OpenSharedMemory,
                               &Server::StartServices,
                               &Server::OpenListeners,  &Server::AnnouncePorts, &Server::WarmTables,
                               &Server::BecomeReady};
  for (const Phase phase : kPhases) {
    const absl::Status status = (this->*phase)();
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

void Server::WarnOfMemoryLimit() {
  const std::optional<size_t> limit = config_.memory_limit;
  if (!limit || config_.cache_bytes + kProgramBytes <= *limit) return;
  log_.Warning("--cache-bytes leaves the program no room below the container's memory limit",
               {{"cache_bytes", config_.cache_bytes}, {"limit_bytes", *limit}, {"program_bytes", kProgramBytes}});
}

absl::Status Server::StartTelemetry() {
  if (!config_.admin_listen) return absl::OkStatus();
  auto admin = StartAdminHttp({.listen = *config_.admin_listen,
                               .collectors = {&registry_, &collector_, &process_collector_},
                               .lifecycle = &lifecycle_,
                               .version_json = VersionJson(info_),
                               .max_connections = descriptors_.admin,
                               .log = &log_});
  if (!admin.ok()) return admin.status();
  admin_ = *std::move(admin);
  stops_.push_back([this] { admin_.reset(); });
  log_.Info("admin pages are open", {{"address", config_.admin_listen->text}, {"port", admin_->port()}});
  return absl::OkStatus();
}

absl::Status Server::StartStore() {
  TableStoreOptions options;
  options.budget_bytes = config_.cache_bytes;
  options.block_bytes = config_.block_bytes;
  options.threads = config_.threads;
  options.make_generator = [catalog = catalog_](const TableSpec& spec) {
    return MakeTableGenerator(spec, *catalog);
  };
  store_ = MakeTableStore(options);
  observed_store_ = store_.get();
  // Shut down, not destroyed: the last scrape still reads its statistics.
  stops_.push_back([this] { store_->Shutdown(); });
  return absl::OkStatus();
}

absl::Status Server::OpenSharedMemory() {
  if (config_.shared_memory_socket.empty()) return absl::OkStatus();
  shared_tables_ = std::make_unique<SharedTables>(*store_);
  auto opened = SharedMemorySocket::Open(config_.shared_memory_socket, *shared_tables_,
                                         {.max_connections = descriptors_.shared_memory, .log = &log_});
  if (!opened.ok()) return opened.status();
  shared_memory_ = *std::move(opened);
  stops_.push_back([this] { shared_memory_.reset(); });
  log_.Info("shared memory is open", {{"path", config_.shared_memory_socket}});
  return absl::OkStatus();
}

absl::Status Server::StartServices() {
  ServiceContext context;
  context.store = store_.get();
  context.catalog = catalog_.get();
  context.build = {.version = info_.version, .revision = info_.revision, .compiler = info_.compiler};
  context.start_time = absl::Now();
  context.shared_tables = shared_tables_.get();
  context.shared_memory_socket = config_.shared_memory_socket;
  context.block_bytes = config_.block_bytes;
  context.max_unary_bytes = config_.max_unary_bytes;
  context.max_memory_wait = config_.max_memory_wait;
  context.stall_timeout = config_.stall_timeout;
  context.ready = [this] { return lifecycle_.ready(); };
  context.draining = [this] { return lifecycle_.draining(); };
  services_.push_back(MakePositionalEncodingService(context));
  services_.push_back(MakeTableAdminService(context));
  return absl::OkStatus();
}

absl::Status Server::OpenListeners() {
  std::vector<grpc::Service*> services = {&health_};
  for (const auto& service : services_) services.push_back(service.get());
  GrpcListenerOptions options;
  options.max_connections = std::min(config_.max_connections, descriptors_.grpc);
  options.log = &log_;
  options.probe.report = [this](const std::string& deaf) { ReportProbe(deaf); };
  auto listeners = GrpcListeners::Open(config_.listen, services, rpc_metrics_, options);
  if (!listeners.ok()) return listeners.status();
  listeners_ = *std::move(listeners);
  stops_.push_back([this] { Drain(); });
  for (const BoundAddress& bound : listeners_->bound()) {
    log_.Info("listening", {{"address", bound.address.text}, {"port", bound.port}});
  }
  return absl::OkStatus();
}

absl::Status Server::AnnouncePorts() {
  stops_.push_back([this] { port_files_.clear(); });
  const auto write = [&](const std::string& path, const std::vector<int>& ports) -> absl::Status {
    if (path.empty()) return absl::OkStatus();
    auto file = PortFile::Write(path, ports);
    if (file.ok()) port_files_.push_back(*std::move(file));
    return file.status();
  };
  std::vector<int> ports;
  for (const BoundAddress& bound : listeners_->bound()) {
    if (!bound.address.is_unix()) ports.push_back(bound.port);
  }
  const absl::Status status =
      write(config_.admin_port_file, admin_ == nullptr ? std::vector<int>() : std::vector{admin_->port()});
  return status.ok() ? write(config_.port_file, ports) : status;
}

absl::Status Server::WarmTables() { return WarmAll(*store_, warm_, stop_, lifecycle_, log_); }

absl::Status Server::BecomeReady() {
  lifecycle_.SetServing();
  health_.SetServing(true);
  log_.Info("ready", {{"warm_tables", lifecycle_.warmed_tables()}});
  return absl::OkStatus();
}

void Server::Drain() {
  const bool was_ready = lifecycle_.ready();
  log_.Info("drain begins", {{"reason", stop_.reason()},
                             {"requests_in_flight", rpc_metrics_.in_flight()},
                             {"health_watchers", health_.watchers()}});
  lifecycle_.SetDraining();
  health_.Drain();
  // Callers who were never told to come need no time to go elsewhere.
  if (was_ready) absl::SleepFor(config_.drain_delay);
  const int64_t left = rpc_metrics_.in_flight();
  const absl::Time start = SteadyNow();
  bool cut_off = false;
  {
    const ExitGuard guard(config_.drain_timeout + kCancelledCallsTimeout, 0, [this] {
      log_.Warning("drain has ended, without peers that take nothing any more");
    });
    cut_off = listeners_->Shutdown(config_.drain_timeout, [this] { return rpc_metrics_.in_flight() == 0; });
  }
  log_.Info("drain has ended", {{"requests_at_close", left},
                                {"cut_off", cut_off},
                                {"seconds", absl::ToDoubleSeconds(SteadyNow() - start)}});
}

void Server::ReportProbe(const std::string& deaf) {
  const std::string before = lifecycle_.deaf_listener();
  if (deaf == before) return;
  lifecycle_.SetDeafListener(deaf);
  health_.SetServing(lifecycle_.ready());
  if (deaf.empty()) {
    log_.Info("the listener answers again", {{"address", before}});
  } else {
    log_.Error("a listener does not answer", {{"address", deaf}});
  }
}

void Server::StopAll() {
  for (auto stop = stops_.rbegin(); stop != stops_.rend(); ++stop) (*stop)();
  stops_.clear();
}

}  // namespace posenc
