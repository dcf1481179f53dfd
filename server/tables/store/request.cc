#include "server/tables/store/request.h"

namespace posenc {

void FetchRequest::Finish(absl::Status status) {
  std::vector<BlockPtr> leases;
  leases.reserve(blocks.size());
  for (std::shared_ptr<CachedBlock>& block : blocks) {
    if (block) leases.push_back(MakeLease(owner(), std::move(block), account));
  }
  blocks.clear();
  charged = PeerCharge();
  account = nullptr;
  table = nullptr;  // the ticket may be kept long after; it must not keep the table
  const TableStore::BlocksCallback call = std::exchange(done, nullptr);
  if (call == nullptr) return;  // it was called, and threw
  if (status.ok()) {
    call(std::move(leases));
  } else {
    leases.clear();  // those held so far; the caller gets all or none
    call(std::move(status));
  }
}

void ReserveRequest::Finish(absl::Status status) {
  account = nullptr;
  const Callback call = std::exchange(done, nullptr);
  if (call == nullptr) return;  // it was called, and threw
  if (status.ok()) {
    call(Grant{std::move(memory), std::exchange(charged, PeerCharge())});
  } else {
    call(std::move(status));
  }
}

}  // namespace posenc
