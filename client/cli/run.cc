#include <openssl/bio.h>
#include <openssl/pem.h>

#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cli/command.h"
#include "client/cli/flags/parse.h"
#include "server/models/tensors/stored_tensors.h"

namespace posenc::cli {
namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  posenc sinusoidal --d-model 512 --rows 0:10 --cols 0:8\n"
    "  posenc rope --model config.json --positions 131071 --format json\n"
    "  posenc alibi --heads 12 --q 0:1 --k 0:20 --local\n"
    "\n"
    "Data go to stdout, everything else to stderr. Exit codes: 0 done, 1 a file cannot be written,\n"
    "or diff and check found something, 2 wrong usage, 64 + n a call that ended with gRPC status code n.";

void AddGlobals(CLI::App& app, GlobalFlags& globals) {
  app.add_option("--server", globals.server, "The service (default localhost:50051)")
      ->envname("POSENC_SERVER")
      ->type_name("ADDR");
  app.add_flag("--local", globals.local, "Computes in this process; needs no server");
  app.add_option("--timeout", globals.timeout, "Of a call, in seconds or with a unit: 2.5, 500ms, 1m")
      ->check(Checked(ParseTimeout), "", "")
      ->type_name("TIME");
  app.add_flag("--quiet", globals.quiet, "No progress, no remarks on stderr; errors only");
  app.add_flag("--tls", globals.tls, "Encrypts; the certificate is checked against the system's");
  app.add_option("--tls-ca", globals.tls_ca_file, "Encrypts; certificates to check against, PEM")
      ->type_name("FILE");
  app.add_option("--token-file", globals.token_file, "Sends the file's text as a bearer token")
      ->type_name("FILE");
  app.add_option("--learned", globals.learned,
                 "With --local: a stored tensor of a .safetensors or .npy file; repeatable")
      ->check(Checked(ParseTensorSource), "", "")
      ->allow_extra_args(false)
      ->type_name("NAME=FILE[:TENSOR]");
}

// The tensors that --learned names. Errors: a usage error for a file that is none.
Outcome LoadCatalog(const GlobalFlags& globals, std::shared_ptr<const TensorCatalog>& catalog) {
  std::vector<TensorSource> sources;
  for (const std::string& text : globals.learned) sources.push_back(*ParseTensorSource(text));
  absl::StatusOr<std::shared_ptr<const TensorCatalog>> loaded = LoadTensorCatalog(sources);
  if (!loaded.ok()) return Usage(absl::StrCat("--learned: ", loaded.status().message()));
  catalog = *std::move(loaded);
  return {};
}

// gRPC takes any text for a name to ask the DNS for, port 443.
Outcome CheckAddress(const std::string& server) {
  constexpr const char* kAllowed = "allowed: HOST:PORT, unix:PATH";
  if (server.empty()) return Usage(absl::StrCat("--server is empty; ", kAllowed));
  if (server.find_first_not_of("0123456789") != std::string::npos) return {};
  return Usage(absl::StrCat("--server ", server, " has no host; ", kAllowed, "; is it localhost:", server, "?"));
}

bool UsesTls(const GlobalFlags& globals) { return globals.tls || !globals.tls_ca_file.empty(); }

bool HoldsCertificate(const std::string& pem) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> text(
      BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free);
  const std::unique_ptr<X509, decltype(&X509_free)> first(
      PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr), X509_free);
  return first != nullptr;
}

Outcome ReadCertificates(const std::string& path, std::string& pem) {
  if (Outcome outcome = ReadFile(path, pem); !outcome.ok()) return outcome;
  if (HoldsCertificate(pem)) return {};
  return Usage(absl::StrCat("--tls-ca ", path, " holds no certificate; allowed: PEM"));
}

Outcome Perform(const Session& session) {
  Outcome outcome = session.action();
  std::cout.flush();
  if (outcome.ok() && !std::cout) return FileError("cannot write to stdout");
  const bool unreached = outcome.exit_code == kRpcErrorBase + static_cast<int>(absl::StatusCode::kUnavailable);
  if (unreached && UsesTls(session.globals)) {
    // gRPC says no more than that the connection closed.
    absl::StrAppend(&outcome.message, "; with TLS, the server must speak it, with a certificate for this "
                                      "address, signed by one of ",
                    session.globals.tls_ca_file.empty() ? "the system's" : session.globals.tls_ca_file);
  }
  return outcome;
}

// CLI11's messages come without a hint where to read on.
int ReportUsage(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) return app.exit(error);  // --help
  // CLI11 only misses a command, even where there is a word that is none.
  const std::vector<std::string> unknown = app.remaining();
  const bool misspelt = error.get_name() == "RequiredError" && !unknown.empty();
  std::cerr << "posenc: " << (misspelt ? absl::StrCat("unknown: ", unknown.front()) : error.what())
            << "\nposenc: 'posenc --help' and 'posenc COMMAND --help' explain\n";
  return kUsageError;
}

}  // namespace

Outcome ReadFile(const std::string& path, std::string& text) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  if (file.is_open() && content << file.rdbuf()) {
    text = std::move(content).str();
    return {};
  }
  return Usage(errno == 0 ? absl::StrCat(path, " is empty")
                          : absl::StrCat("cannot read ", path, ": ", std::strerror(errno)));
}

Outcome ReadConfig(const std::string& path, std::string& text) {
  const bool is_folder = CLI::ExistingDirectory(path).empty();
  return ReadFile(is_folder ? absl::StrCat(path, "/config.json") : path, text);
}

CallOptions Session::call() const {
  if (globals.timeout.empty()) return {};
  return {.timeout = *ParseTimeout(globals.timeout)};
}

Outcome Session::Connect(std::shared_ptr<Connection>& connection) const {
  if (globals.local) {
    std::shared_ptr<const TensorCatalog> catalog;
    if (Outcome outcome = LoadCatalog(globals, catalog); !outcome.ok()) return outcome;
    connection = MakeLocalConnection(std::move(catalog));
    return {};
  }
  if (!globals.learned.empty()) return Usage("--learned needs --local; a server has tensors of its own");
  if (Outcome outcome = CheckAddress(globals.server); !outcome.ok()) return outcome;
  // A person wants to know at once that nobody answers, but not to lose a transfer to a server's restart.
  ConnectionOptions options{.retry = {.max_attempts = 3}, .wait_for_ready = false, .wait_for_return = true};
  if (UsesTls(globals)) {
    TlsOptions& tls = options.tls.emplace();
    if (!globals.tls_ca_file.empty()) {
      Outcome outcome = ReadCertificates(globals.tls_ca_file, tls.root_certificates);
      if (!outcome.ok()) return outcome;
    }
  }
  if (!globals.token_file.empty()) {
    if (Outcome outcome = ReadFile(globals.token_file, options.token); !outcome.ok()) return outcome;
    while (!options.token.empty() && std::isspace(static_cast<unsigned char>(options.token.back()))) {
      options.token.pop_back();
    }
  }
  connection = MakeConnection(globals.server, options);
  return {};
}

int Run(int argc, const char* const* argv) {
  CLI::App app("Positional-encoding tables: exact numbers from a posenc service, or from this process.",
               "posenc");
  app.footer(kFooter);
  app.require_subcommand(1);
  app.fallthrough();  // global flags may stand behind the command
  static Session session;
  AddGlobals(app, session.globals);
  AddTableCommands(app, session);
  AddDescribeCommand(app, session);
  AddModelCommand(app, session);
  AddCheckCommand(app, session);
  AddDiffCommand(app, session);
  AddPlotCommand(app, session);
  AddBenchCommand(app, session);
  AddAdminCommands(app, session);
  AddCompletionCommand(app, session);
  // Errors are reported once, by this program; gRPC would log them beside it.
  setenv("GRPC_VERBOSITY", "NONE", /*overwrite=*/0);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return ReportUsage(app, error);
  }
  const Outcome outcome = Perform(session);
  if (!outcome.message.empty()) std::cerr << "posenc: " << outcome.message << '\n';
  return outcome.exit_code;
}

}  // namespace posenc::cli
