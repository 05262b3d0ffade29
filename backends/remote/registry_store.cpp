#include "backends/remote/registry_store.h"

#include <fmt/format.h>

#include <atomic>
#include <cerrno>
#include <fstream>
#include <map>
#include <vector>

#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "backends/base/mapped_file.h"
#include "backends/base/parallel.h"

namespace modlock::remote {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kParallel = 8;

class FileSink final : public BodySink {
 public:
  explicit FileSink(fs::path path) : path_(std::move(path)) {}
  Result<void> begin(std::optional<std::uint64_t> /*length*/) override {
    file_ = std::ofstream(path_, std::ios::binary | std::ios::trunc);
    sha_ = Sha256();
    return {};
  }
  Result<void> write(std::string_view bytes) override {
    sha_.update(bytes);
    file_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return file_ ? Result<void>() : Result<void>(system_failure("write", path_, errno));
  }
  Result<std::string> finish() {
    file_.close();
    const auto digest = sha_.finish();
    return file_ ? Result<std::string>("sha256:" + hex(digest.data(), digest.size()))
                 : Result<std::string>(system_failure("write", path_, errno));
  }

 private:
  fs::path path_;
  std::ofstream file_;
  Sha256 sha_;
};

class Push {
 public:
  Push(const Layout& layout, oci::Registry& registry, const oci::Repository& repository, const Context& context)
      : layout_(layout), registry_(registry), repository_(repository), context_(context) {}

  Result<PushReport> run() {
    MODLOCK_TRY(const auto closures, layout_.closures());
    std::vector<const Layout::NamedClosure*> missing;
    for (const Layout::NamedClosure& closure : closures) {
      const std::string index = write_closure(closure.closure);
      MODLOCK_TRY(const auto known, registry_.find_manifest(repository_, closure.tag, context_));
      if (known == "sha256:" + sha256_hex(index)) {
        report_.present += closure.closure.packages.size();
      } else {
        missing.push_back(&closure);
      }
    }
    if (!missing.empty()) {
      MODLOCK_TRY(registry_.push_blob(repository_, "sha256:" + sha256_hex(kEmptyConfig), kEmptyConfig, context_));
      MODLOCK_TRY(push_packages(missing));
    }
    for (const Layout::NamedClosure* closure : missing) {
      MODLOCK_TRY(
          registry_.push_manifest(repository_, closure->tag, kImageIndex, write_closure(closure->closure), context_));
    }
    return report_;
  }

 private:
  Result<void> push_packages(const std::vector<const Layout::NamedClosure*>& closures) {
    std::map<std::string, BundledPackage> unique;  // by manifest
    for (const Layout::NamedClosure* closure : closures) {
      for (const BundledPackage& package : closure->closure.packages) {
        unique.emplace(package.manifest.digest, package);
      }
    }
    std::vector<const BundledPackage*> packages;
    for (const auto& [digest, package] : unique) {
      packages.push_back(&package);
    }
    std::vector<Result<bool>> sent(packages.size());
    std::atomic<std::size_t> done = 0;
    parallel_for(packages.size(), kParallel, [&](std::size_t i) {
      sent[i] = push_package(*packages[i]);
      context_.progress->report(fmt::format("uploading {}", packages[i]->source), ++done, packages.size());
    });
    for (Result<bool>& one : sent) {
      MODLOCK_TRY(const bool is_sent, std::move(one));
      ++(is_sent ? report_.sent : report_.present);
    }
    return {};
  }

  // Returns whether it was sent.
  Result<bool> push_package(const BundledPackage& package) {
    MODLOCK_TRY(const auto known, registry_.find_manifest(repository_, package.manifest.digest, context_));
    if (known) {
      return false;
    }
    MODLOCK_TRY(const auto path, layout_.find(package.layer));
    MODLOCK_TRY(const auto file, MappedFile::open(path));
    MODLOCK_TRY(registry_.push_blob(repository_, package.layer.digest, file.content(), context_));
    MODLOCK_TRY(const auto manifest, layout_.read(package.manifest));
    MODLOCK_TRY(registry_.push_manifest(repository_, package.manifest.digest, kImageManifest, manifest, context_));
    return true;
  }

  const Layout& layout_;
  oci::Registry& registry_;
  const oci::Repository& repository_;
  const Context& context_;
  PushReport report_;
};

}  // namespace

Result<PushReport> push(const Layout& layout, oci::Registry& registry, const oci::Repository& repository,
                        const Context& context) {
  return Push(layout, registry, repository, context).run();
}

Result<std::optional<Closure>> find_closure(oci::Registry& registry, const oci::Repository& repository,
                                            const std::string& tag, const Context& context) {
  const auto index = registry.manifest(repository, {.tag = tag, .digest = {}}, context);
  if (!index) {
    return index.error().code == Code::not_found ? Result<std::optional<Closure>>(std::nullopt) : fail(index.error());
  }
  MODLOCK_TRY(auto closure, read_closure(index->body, fmt::format("{} of \"{}\"", tag, repository.display)));
  return std::optional(std::move(closure));
}

Result<void> download(oci::Registry& registry, const oci::Repository& repository, const Blob& blob,
                      const fs::path& file, const Context& context) {
  FileSink sink(file);
  return registry.blob(
      repository, {blob.digest, blob.size}, "a module package", sink, [&] { return sink.finish(); }, context);
}

}  // namespace modlock::remote
