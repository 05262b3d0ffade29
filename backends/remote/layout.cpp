#include "backends/remote/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "backends/base/collections.h"
#include "backends/base/files.h"
#include "backends/package/pack.h"

namespace modlock::remote {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLayoutFile = "oci-layout";
constexpr std::string_view kLayoutText = R"({"imageLayoutVersion":"1.0.0"})";
constexpr std::string_view kIndexFile = "index.json";
constexpr std::uint64_t kBundleLimit = std::uint64_t{64} << 30U;  // of an extracted archive

std::string blob_name(std::string_view digest) {
  return "blobs/sha256/" + std::string(digest.substr(digest.find(':') + 1));
}

// Names of archive entries, and their largest sizes.
using Entries = std::map<std::string, std::uint64_t, std::less<>>;

Result<void> extract(const fs::path& path, const fs::path& work, const Entries& entries, const Context& context) {
  const auto is_wanted = [&](std::string_view name, std::uint64_t size) {
    const auto found = entries.find(name);
    return found != entries.end() && size <= found->second;
  };
  return extract_tar(path, work, is_wanted, kBundleLimit, context);
}

// Adds the blobs that `bundle verify` reads.
void add_blobs(const Closure& closure, Entries& entries) {
  const auto add = [&](const Blob& blob) { entries.emplace(blob_name(blob.digest), blob.size); };
  add(blob_of(kEmptyConfig));
  for (const BundledPackage& package : closure.packages) {
    add(package.layer);
    add(package.manifest);
    if (!package.trees.digest.empty()) {
      add(package.trees);
    }
  }
  for (const BundledProvider& provider : closure.providers) {
    for (const auto& [platform, archive] : provider.archives) {
      add(archive.layer);
      add(blob_of(write_provider_manifest(archive.layer)));
    }
  }
}

tl::unexpected<Error> no_bundle(const fs::path& path, std::string_view why) {
  return fail(Code::source_invalid, fmt::format("\"{}\" is not a bundle: {}", path.string(), why),
              "name a directory or a .tar file that `tofu-modlock bundle create` has written");
}

}  // namespace

Result<Blob> LayoutWriter::add(std::string_view bytes) {
  return add([&](const ByteSink& sink) {
    sink(bytes);
    return Result<void>();
  });
}

Result<Blob> LayoutWriter::add(const Write& write) {
  return receive([&](FileSink& sink) -> Result<void> {
    MODLOCK_TRY(sink.begin({}));
    Result<void> stored;
    auto written = write([&](std::string_view piece) {
      stored = sink.write(piece);
      return stored.has_value();
    });
    return stored ? std::move(written) : std::move(stored);
  });
}

Result<Blob> LayoutWriter::add_on_demand(Write write) {
  Sha256 sha;
  Blob blob;
  MODLOCK_TRY(write([&](std::string_view piece) {
    sha.update(piece);
    blob.size += piece.size();
    return true;
  }));
  blob.digest = "sha256:" + hex(sha.finish());
  on_demand_[blob.digest] = std::move(write);
  return blob;
}

Result<Layout> LayoutWriter::layout() {
  MODLOCK_TRY(add_indexes());
  Layout layout(work_, work_);
  for (const Listed& listed : closures_) {
    layout.closures_.push_back(listed.index);
  }
  layout.write_missing_ = [this](const Blob& blob) -> Result<void> {
    if (const auto missing = on_demand_.find(blob.digest); missing != on_demand_.end()) {
      MODLOCK_TRY(add(missing->second));
    }
    return {};
  };
  return layout;
}

Result<Blob> LayoutWriter::receive(const std::function<Result<void>(FileSink&)>& send) {
  MODLOCK_TRY(make_directories(work_ / "blobs/sha256"));
  const fs::path unfinished = work_ / ("tmp-" + random_hex(8));
  FileSink sink(unfinished);
  MODLOCK_TRY(send(sink));
  MODLOCK_TRY(const auto sha256, sink.close());
  const Blob blob{"sha256:" + sha256, sink.size()};
  std::error_code error;
  fs::rename(unfinished, file(blob), error);
  if (error) {
    return system_failure("rename", unfinished, error.value());
  }
  const std::lock_guard lock(mutex_);
  digests_.insert(blob.digest);
  return blob;
}

fs::path LayoutWriter::file(const Blob& blob) const {
  return work_ / blob_name(blob.digest);
}

bool LayoutWriter::has(const Blob& blob) {
  const std::lock_guard lock(mutex_);
  return digests_.count(blob.digest) != 0;
}

Result<Closure> LayoutWriter::read(const TaggedClosure& one) const {
  MODLOCK_TRY(const auto text, read_file(file(one.index)));
  return read_closure(text, one.tag);
}

Result<void> LayoutWriter::add_closure(NamedClosure closure) {
  std::vector<BundledPackage>& packages = closure.closure.packages;
  for (const BundledPackage& package : packages) {
    const std::string manifest = write_package_manifest(package);
    if (!has(blob_of(manifest))) {  // of an earlier closure
      MODLOCK_TRY(add(manifest));
    }
  }
  auto same = std::ranges::find_if(closures_, [&](const Listed& listed) { return listed.index.tag == closure.tag; });
  if (same != closures_.end()) {
    MODLOCK_TRY(auto present, read(same->index));
    packages.insert(packages.end(), present.packages.begin(), present.packages.end());
    present.add(closure.closure.providers);
    closure.closure.providers = std::move(present.providers);
  } else {
    same = closures_.insert(closures_.end(), {.index = {.tag = closure.tag, .index = {}}, .providers = {}});
  }
  sort_unique(packages);
  const std::string text = write_closure(closure.closure);
  if (text.size() > kManifestLimit) {
    return fail(Code::limit_exceeded, fmt::format("the index of {} packages is larger than 4 MiB", packages.size()),
                "bundle a root module with fewer module calls");
  }
  MODLOCK_TRY(auto index, add(text));
  const Blob before = std::exchange(same->index.index, index);
  const bool is_used =
      std::ranges::any_of(closures_, [&](const Listed& listed) { return listed.index.index == before; });
  if (!before.digest.empty() && !is_used) {
    std::error_code ignored;
    fs::remove(file(before), ignored);
    digests_.erase(before.digest);
  }
  same->providers = std::move(closure.closure.providers);
  return {};
}

Result<void> LayoutWriter::for_each_closure(const ClosureSink& sink) const {
  for (const Listed& listed : closures_) {
    MODLOCK_TRY(auto closure, read(listed.index));
    sink({listed.index.tag, std::move(closure)});
  }
  return {};
}

Result<void> LayoutWriter::add_indexes() {
  MODLOCK_TRY(add(kEmptyConfig));
  std::vector<TaggedClosure> tagged;
  std::vector<NamedClosure> named;
  for (const Listed& listed : closures_) {
    tagged.push_back(listed.index);
    named.push_back({listed.index.tag, {.packages = {}, .providers = listed.providers}});
  }
  MODLOCK_TRY(const auto providers, providers_of(named));
  for (const BundledProvider& provider : providers) {
    for (const auto& [platform, archive] : provider.archives) {
      MODLOCK_TRY(add(write_provider_manifest(archive.layer)));
    }
    MODLOCK_TRY(add(write_provider_index(provider)));
  }
  return write_file_atomically(work_ / kIndexFile, write_layout_index(tagged, providers));
}

Result<void> LayoutWriter::finish(const fs::path& output, const Context& context) {
  MODLOCK_TRY(make_directories(work_));
  MODLOCK_TRY(write_file_atomically(work_ / kLayoutFile, kLayoutText));
  MODLOCK_TRY(add_indexes());
  std::set<std::string> names = {std::string(kLayoutFile), std::string(kIndexFile)};
  for (const std::string& digest : digests_) {
    names.insert(blob_name(digest));
  }
  std::error_code error;
  const bool is_archive = output.extension() == ".tar";
  if (!is_archive && fs::exists(fs::symlink_status(output, error)) &&
      !(fs::is_directory(output, error) && fs::is_empty(output, error))) {
    return fail(Code::invalid_params, fmt::format("\"{}\" already exists", output.string()),
                "name a directory that does not exist, or a .tar file");
  }
  remove_unfinished_writes(output.parent_path(), output.filename().string());  // of a killed process
  const fs::path unfinished = output.parent_path() / fmt::format(".{}.{}", output.filename().string(), random_hex(8));
  auto written = is_archive ? write_tar(work_, names, unfinished, context) : copy_tree(work_, unfinished);
  written = written.and_then([&] { return rename_durably(unfinished, output); });
  if (!written) {
    (void)remove_tree(unfinished);
  }
  return written;
}

Result<Layout> Layout::open(const fs::path& path, const fs::path& work, const Context& context) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    return fail(Code::invalid_params, fmt::format("bundle \"{}\" not found", path.string()), "name an existing bundle");
  }
  const bool is_archive = fs::is_regular_file(status);
  Layout layout(path, is_archive ? work : path);
  if (is_archive) {
    const Entries names = {{std::string(kLayoutFile), kManifestLimit}, {std::string(kIndexFile), kManifestLimit}};
    MODLOCK_TRY(extract(path, work, names, context));
  } else if (!fs::is_directory(status)) {
    return no_bundle(path, "it is neither a directory nor a file");
  }
  for (const char* part : {"blobs", "blobs/sha256"}) {
    if (fs::is_symlink(layout.directory_ / part, error)) {
      return no_bundle(path, fmt::format("\"{}\" is a link", part));
    }
  }
  if (!read_small_file(layout.directory_ / kLayoutFile, kManifestLimit)) {
    return no_bundle(path, "it is not an OCI image layout");
  }
  const auto index = read_small_file(layout.directory_ / kIndexFile, kManifestLimit);
  if (!index) {
    return no_bundle(path, "it has no index.json");
  }
  MODLOCK_TRY(layout.closures_, read_layout_index(*index, fmt::format("\"{}\"", (path / kIndexFile).string())));
  if (!is_archive) {
    return layout;
  }
  // Only what the indexes name is written, the indexes first.
  Entries blobs;
  for (const TaggedClosure& one : layout.closures_) {
    blobs.emplace(blob_name(one.index.digest), std::min<std::uint64_t>(one.index.size, kManifestLimit));
  }
  MODLOCK_TRY(extract(path, work, blobs, context));
  blobs.clear();
  for (const TaggedClosure& one : layout.closures_) {
    if (const auto closure = layout.closure(one)) {  // reading it again names the error
      add_blobs(*closure, blobs);
    }
  }
  MODLOCK_TRY(extract(path, work, blobs, context));
  return layout;
}

Result<Closure> Layout::closure(const TaggedClosure& one) const {
  MODLOCK_TRY(const auto index, read(one.index));
  return read_closure(index, fmt::format("{} of \"{}\"", one.tag, path_.string()));
}

Result<fs::path> Layout::find(const Blob& blob) const {
  const fs::path file = directory_ / blob_name(blob.digest);
  std::error_code error;
  if (write_missing_ && !fs::exists(file, error)) {
    MODLOCK_TRY(write_missing_(blob));
  }
  if (!fs::is_regular_file(fs::symlink_status(file, error))) {
    return fail(Code::source_invalid, fmt::format("the bundle \"{}\" lacks the blob {}", path_.string(), blob.digest),
                "create the bundle again");
  }
  const auto size = fs::file_size(file, error);
  if (!error && size == blob.size) {
    MODLOCK_TRY(const auto digest, sha256_file(file));
    if ("sha256:" + hex(digest) == blob.digest) {
      return file;
    }
  }
  return fail(Code::hash_mismatch,
              fmt::format("the blob {} of the bundle \"{}\" does not match its digest", blob.digest, path_.string()),
              "create the bundle again, or copy it again");
}

Result<std::string> Layout::read(const Blob& blob) const {
  if (blob.size > kManifestLimit) {
    return fail(Code::source_invalid,
                fmt::format("{} of the bundle \"{}\" is larger than 4 MiB", blob.digest, path_.string()),
                "create the bundle again");
  }
  MODLOCK_TRY(const auto file, find(blob));
  return read_file(file);
}

}  // namespace modlock::remote
