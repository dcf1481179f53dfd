// The program's encrypted connections, to a server of this process with a certificate of its own.

#include <cstdlib>
#include <optional>

#include "tests/support/matchers.h"
#include "tests/unit/client/cli/fixture.h"
#include "tests/unit/client/faulty_service.h"

namespace posenc {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class CliTlsTest : public CliTest {
 protected:
  void SetUp() override {
    ASSERT_TRUE(MakeCertificate("server"));
    ASSERT_TRUE(MakeCertificate("other"));
    grpc::SslServerCredentialsOptions options;
    options.pem_key_cert_pairs.push_back({Read(Path("server.key")), Read(Path("server.pem"))});
    service_.emplace(0, grpc::SslServerCredentials(options));
  }

  // Writes NAME.pem, signed by its own key NAME.key.
  bool MakeCertificate(const std::string& name) const {
    const std::string command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 "
                                "-subj /CN=" + name + " -addext subjectAltName=IP:127.0.0.1 -keyout " +
                                Path(name + ".key") + " -out " + Path(name + ".pem") + " 2>/dev/null";
    return std::system(command.c_str()) == 0;
  }

  Result Ask(const std::string& flags, const std::string& environment = "") const {
    return Run("sinusoidal --d-model 2 --max-len 10 --timeout 10 --server " + service_->target() + " " + flags,
               environment);
  }

  std::optional<FaultyService> service_;
};

TEST_F(CliTlsTest, ServerWithTheNamedCertificateIsTrusted) {
  const Result result = Ask("--format csv --tls-ca " + Path("server.pem"));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("9,9,-9\n"));
}

TEST_F(CliTlsTest, SystemsCertificatesAreTheDefault) {
  EXPECT_EQ(Ask("--tls", "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH=" + Path("server.pem")).exit_code, 0);
  EXPECT_EQ(Ask("--tls", "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH=" + Path("other.pem")).exit_code, 64 + 14);
}

TEST_F(CliTlsTest, AnotherCertificateIsAnErrorThatSaysSo) {
  const Result result = Ask("--tls-ca " + Path("other.pem"));
  EXPECT_EQ(result.exit_code, 64 + 14);
  EXPECT_THAT(result.err,
              AllOf(StartsWith("posenc: UNAVAILABLE: " + service_->target()),
                    HasSubstr("certificate for this address, signed by one of " + Path("other.pem"))));
}

TEST_F(CliTlsTest, NoCertificateInTheFileIsAnErrorThatSaysSo) {
  for (const char* text : {"no certificate", "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n"}) {
    const Result result = Ask("--tls-ca " + Write("text.pem", text));
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, HasSubstr("text.pem holds no certificate; allowed: PEM"));
  }
}

TEST_F(CliTlsTest, UnencryptedCallToItFails) { EXPECT_EQ(Ask("").exit_code, 64 + 14); }

}  // namespace
}  // namespace posenc
