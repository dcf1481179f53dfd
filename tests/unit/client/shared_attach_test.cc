#include "client/shared_memory/shared_attach.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <iterator>
#include <thread>

#include "tests/support/matchers.h"

namespace posenc {
namespace {

using ::testing::_;

// Somebody who listens at the path that a server has named.
class SharedAttachTest : public ::testing::Test {
 protected:
  SharedAttachTest() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path_.data(), path_.size());
    unlink(path_.c_str());
    EXPECT_EQ(bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(listen(listener_, 4), 0);
    offer_.set_socket_path(path_);
    offer_.set_token(std::string(64, 'a'));
  }
  ~SharedAttachTest() override {
    close(listener_);
    unlink(path_.c_str());
  }

  // Hands two descriptors to the client that comes.
  void SendTwo() const {
    const int client = accept(listener_, nullptr, nullptr);
    const int files[2] = {memfd_create("posenc-test", 0), memfd_create("posenc-test", 0)};
    char byte = 1;
    iovec data{&byte, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(files))] = {};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(files));
    std::memcpy(CMSG_DATA(header), files, sizeof(files));
    EXPECT_EQ(sendmsg(client, &message, 0), 1);
    for (int fd : {files[0], files[1], client}) close(fd);
  }

  static int64_t OpenFiles() {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  }

  const std::string path_ = ::testing::TempDir() + "posenc-attach-" + std::to_string(getpid());
  const int listener_ = socket(AF_UNIX, SOCK_STREAM, 0);
  v1::OpenSharedTableResponse offer_;
};

TEST_F(SharedAttachTest, NothingButATokenIsSentToThePath) {
  for (const std::string& text : {std::string("DELETE / HTTP/1.1\r\n\r\n"), std::string(64, '\n'), std::string()}) {
    offer_.set_token(text);
    EXPECT_THAT(AttachSharedTable(offer_), StatusIs(absl::StatusCode::kInternal, _));
  }
  // Nobody has come in.
  pollfd visitor{listener_, POLLIN, 0};
  EXPECT_EQ(poll(&visitor, 1, 0), 0);
}

TEST_F(SharedAttachTest, DescriptorsBehindTheFirstAreNotKept) {
  const int64_t before = OpenFiles();
  std::thread impostor([this] { SendTwo(); });
  EXPECT_THAT(AttachSharedTable(offer_), StatusIs(absl::StatusCode::kInternal, _));
  impostor.join();
  EXPECT_EQ(OpenFiles(), before);
}

}  // namespace
}  // namespace posenc
