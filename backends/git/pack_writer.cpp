#include "backends/git/pack_writer.h"

#include <git2.h>

#include <array>

#include "backends/base/deleter.h"
#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "backends/git/library.h"

namespace modlock::git {
namespace {

// libgit2 writes through a mapping, where a full disk would end the process. It reserves space only for the last page
// of an append, so an append shorter than a page touches no unreserved page.
constexpr std::size_t kLongestAppend = 4095;

tl::unexpected<Error> broken_pack() {
  return fail(Code::bad_response, "libgit2: " + library_reason());
}

}  // namespace

struct PackWriter::Indexer {
  std::unique_ptr<git_indexer, Deleter<git_indexer_free>> indexer;
  git_indexer_progress progress{};  // libgit2 updates it in each call
};

PackWriter::PackWriter(const std::filesystem::path& repository)
    : packs_(repository / "objects" / "pack"), arriving_(repository / (std::string(kArriving) + random_hex(8))) {
  start_library();
}

PackWriter::~PackWriter() {
  indexer_.reset();
  (void)remove_tree(arriving_);
}

Result<void> PackWriter::restart() {
  indexer_.reset();
  MODLOCK_TRY(make_directories(arriving_));
  git_indexer* made = nullptr;
  if (git_indexer_new(&made, arriving_.c_str(), 0U, nullptr, nullptr) != 0) {
    return broken_pack();
  }
  indexer_ = std::make_unique<Indexer>();
  indexer_->indexer.reset(made);
  return {};
}

Result<void> PackWriter::append(std::string_view bytes) {
  if (!indexer_) {
    MODLOCK_TRY(restart());
  }
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, kLongestAppend);
    if (git_indexer_append(indexer_->indexer.get(), piece.data(), piece.size(), &indexer_->progress) != 0) {
      return broken_pack();
    }
    bytes.remove_prefix(piece.size());
  }
  return {};
}

Result<void> PackWriter::finish() {
  if (!indexer_) {
    return fail(Code::bad_response, "no pack arrived");
  }
  if (git_indexer_commit(indexer_->indexer.get(), &indexer_->progress) != 0) {
    auto broken = broken_pack();
    indexer_.reset();
    return broken;
  }
  const std::string name = std::string("pack-") + git_indexer_name(indexer_->indexer.get());
  indexer_.reset();
  // A pack is readable as soon as its index exists, so the index is moved last.
  return move_files_durably(std::array{arriving_ / (name + ".pack"), arriving_ / (name + ".idx")}, packs_);
}

}  // namespace modlock::git
