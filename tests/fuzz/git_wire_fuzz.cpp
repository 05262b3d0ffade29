#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "backends/git/repository.h"
#include "backends/git/wire.h"

namespace {

using namespace modlock;
namespace fs = std::filesystem;

void require(bool holds) {
  if (!holds) std::abort();
}

// What is read as an advertisement, or as a listing of protocol v2, is made of what a reference can have.
void check_references(std::string_view body, std::size_t piece, bool is_listing) {
  git::AdvertisementReader reader(is_listing);
  for (std::size_t at = 0; at < body.size(); at += piece) {
    (void)reader.write(body.substr(at, piece));
  }
  const auto advertisement = reader.finish();
  if (!advertisement) return;
  for (const git::Reference& reference : advertisement->references) {
    require(git::is_full_commit(reference.id) && git::is_full_commit(reference.commit()) && !reference.name.empty());
  }
}

// A bare repository of this process, without packs.
class Repository {
 public:
  Repository() : path_(fs::temp_directory_path() / ("git-wire-fuzz-" + std::to_string(::getpid()))) {
    require(git::make_bare_repository(path_).has_value());
  }
  ~Repository() { fs::remove_all(path_); }
  Repository(const Repository&) = delete;
  Repository& operator=(const Repository&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

const fs::path& repository() {
  static const Repository made;
  return made.path();
}

// An answer that is no whole pack leaves nothing, in whatever pieces it arrives.
void check_answer(std::string_view body, std::size_t piece) {
  bool is_whole = false;
  {
    git::PackResponse answer(repository());
    auto taken = answer.begin(std::nullopt);
    for (std::size_t at = 0; taken && at < body.size(); at += piece) {
      taken = answer.write(body.substr(at, piece));
    }
    is_whole = taken && answer.finish();
  }
  const fs::path packs = repository() / "objects" / "pack";
  require(is_whole || fs::is_empty(packs));
  for (const fs::directory_entry& entry : fs::directory_iterator(packs)) {
    fs::remove(entry.path());
  }
}

}  // namespace

// The first byte says how it arrives.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view body(reinterpret_cast<const char*>(data) + 1, size - 1);
  check_references(body, 1 + data[0], false);
  check_references(body, 1 + data[0], true);
  check_answer(body, 1 + data[0]);
  return 0;
}
