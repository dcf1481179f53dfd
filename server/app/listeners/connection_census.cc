#include "server/app/listeners/connection_census.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "absl/strings/str_cat.h"

namespace posenc {
namespace {

// 0 when the number stands for no file.
ino_t InodeOf(int descriptor) {
  struct stat status {};
  return fstat(descriptor, &status) == 0 && S_ISSOCK(status.st_mode) ? status.st_ino : 0;
}

}  // namespace

void ConnectionCensus::Add(int connection, const std::string& peer) {
  const auto [entry, is_new] = entries_.try_emplace(connection);
  if (!is_new) Forget(entry->second);
  entry->second = {InodeOf(connection), peer};
  ++by_peer_[peer];
}

size_t ConnectionCensus::HeldBy(const std::string& peer) const {
  const auto found = by_peer_.find(peer);
  return found == by_peer_.end() ? 0 : found->second;
}

void ConnectionCensus::Recount() {
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    const auto current = entry++;
    if (InodeOf(current->first) == current->second.inode) continue;
    Forget(current->second);
    entries_.erase(current);
  }
}

void ConnectionCensus::Forget(const Entry& entry) {
  const auto found = by_peer_.find(entry.peer);
  if (--found->second == 0) by_peer_.erase(found);
}

std::string PeerOf(int connection) {
  sockaddr_storage storage{};
  socklen_t size = sizeof(storage);
  if (getpeername(connection, reinterpret_cast<sockaddr*>(&storage), &size) != 0) return "";
  char text[INET6_ADDRSTRLEN] = "";
  if (storage.ss_family == AF_INET) {
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(&storage)->sin_addr, text, sizeof(text));
    return text;
  }
  if (storage.ss_family == AF_INET6) {
    inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_addr, text, sizeof(text));
    return text;
  }
  ucred credentials{};
  size = sizeof(credentials);
  if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return "unix:";
  return absl::StrCat("unix:", credentials.uid);
}

}  // namespace posenc
