// DigestTensors of table_warmer.h.

#include <openssl/evp.h>

#include <utility>

#include "server/tables/jobs/cancellable.h"
#include "server/tables/jobs/table_warmer.h"

namespace posenc {
namespace {

using DigestCallback = std::function<void(absl::StatusOr<std::vector<Sha256Digest>>)>;

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
    EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr);
  }
  void Update(std::span<const std::byte> bytes) {
    EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size());
  }
  Sha256Digest Finish() {
    Sha256Digest digest;
    EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr);
    return digest;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

// Every step is a piece of work of its own, so that hashing delays no other call-back.
class DigestJob final : public Cancellable, public std::enable_shared_from_this<DigestJob> {
 public:
  DigestJob(TableStore& store, PeerId peer, TablePtr table, absl::Time deadline, DigestCallback done)
      : store_(store),
        peer_(std::move(peer)),
        table_(std::move(table)),
        deadline_(deadline),
        done_(std::move(done)),
        hashes_(table_->shape().tensors.size()) {}

  void FetchNext() {
    if (cancelled()) return Finish(absl::CancelledError("the digest was cancelled"));
    if (next_block_ == table_->block_count()) return Finish(Digests());
    SetCurrent(store_.Fetch(peer_, table_, next_block_, next_block_, deadline_,
                            [self = shared_from_this()](absl::StatusOr<std::vector<BlockPtr>> got) {
                              self->Fetched(std::move(got));
                            }));
  }

 private:
  void Fetched(absl::StatusOr<std::vector<BlockPtr>> blocks) {
    if (!blocks.ok()) return Finish(blocks.status());
    store_.Run([self = shared_from_this(), block = std::move(blocks->front())]() mutable {
      self->Hash(*block);
      block = nullptr;  // one at a time
      self->FetchNext();
    });
  }

  void Hash(const Block& block) {
    for (size_t i = 0; i < hashes_.size(); ++i) hashes_[i].Update(block.tensor(i));
    ++next_block_;
  }

  std::vector<Sha256Digest> Digests() {
    std::vector<Sha256Digest> digests;
    for (Sha256& hash : hashes_) digests.push_back(hash.Finish());
    return digests;
  }

  void Finish(absl::StatusOr<std::vector<Sha256Digest>> result) {
    const DigestCallback done = std::exchange(done_, nullptr);
    done(std::move(result));
  }

  TableStore& store_;
  const PeerId peer_;
  const TablePtr table_;
  const absl::Time deadline_;
  DigestCallback done_;
  std::vector<Sha256> hashes_;
  int64_t next_block_ = 0;
};

}  // namespace

std::shared_ptr<FetchTicket> DigestTensors(TableStore& store, PeerId peer, TablePtr table, absl::Time deadline,
                                           DigestCallback done) {
  auto job = std::make_shared<DigestJob>(store, std::move(peer), std::move(table), deadline, std::move(done));
  store.Run([job] { job->FetchNext(); });
  return job;
}

}  // namespace posenc
