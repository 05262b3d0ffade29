#include "backends/providers/provider_archives.h"

#include <optional>
#include <utility>

#include "backends/package/provider_archive.h"
#include "backends/store/provider_hashes.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

class StoredArchives final : public ProviderArchives {
 public:
  explicit StoredArchives(const Store& store) : store_(store), known_(store) {}

  Result<ProviderPackage> hashes_of(const Archive& archive, const Send& send, const Context& context) override {
    if (auto package = remembered(archive, context)) {
      return std::move(*package);
    }
    // After waiting for another process, the caller checks the cache again.
    std::optional<FileLock> held;
    // A mirror may list anything; only a digest identifies an archive.
    if (ProviderHashes::is_digest(archive.zh)) {
      MODLOCK_TRY(auto lock, known_.hold(archive.zh, context));
      held.emplace(std::move(lock));
      if (auto package = remembered(archive, context)) {
        return std::move(*package);
      }
    }
    ArrivingArchive arriving(archive.display, store_.work_directory().value_or(store_.temporary_directory()));
    MODLOCK_TRY(send(arriving));
    MODLOCK_TRY(const auto hashes, arriving.finish(context));
    known_.note(hashes.zh, {.size = hashes.size,
                            .h1 = hashes.h1,
                            .archive_h1 = hashes.archive_h1,
                            .is_plain = hashes.is_plain,
                            .programs = hashes.programs});
    MODLOCK_TRY(expect_provider_program(hashes.programs, archive.type, archive.display));
    return ProviderPackage{.h1 = hashes.h1, .archive_h1 = hashes.archive_h1, .zh = hashes.zh};
  }

 private:
  std::optional<Result<ProviderPackage>> remembered(const Archive& archive, const Context& context) const {
    const auto known = known_.find(archive.zh);
    if (!known || known->h1.empty()) {
      return std::nullopt;
    }
    context.count_cache_hit();
    MODLOCK_TRY(expect_provider_program(known->programs, archive.type, archive.display));
    return ProviderPackage{.h1 = known->h1, .archive_h1 = known->archive_h1, .zh = archive.zh};
  }

  const Store& store_;
  const ProviderHashes known_;
};

}  // namespace

std::unique_ptr<ProviderArchives> make_stored_archives(const Store& store) {
  return std::make_unique<StoredArchives>(store);
}

}  // namespace modlock
