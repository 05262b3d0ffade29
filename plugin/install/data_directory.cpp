#include "plugin/install/data_directory.h"

#include <fmt/format.h>

#include "backends/address/source_text.h"
#include "backends/base/files.h"
#include "plugin/config/roots.h"

namespace modlock {

Result<DataDirectory> find_data_directory(const std::filesystem::path& root, const std::optional<std::string>& given) {
  MODLOCK_TRY(auto path, data_directory(root, given ? std::optional<std::filesystem::path>(*given) : std::nullopt));
  std::string name = std::filesystem::path(given.value_or(".terraform")).lexically_normal().generic_string();
  if (name.size() > 1 && name.ends_with('/')) {
    name.pop_back();
  }
  DataDirectory data{.path = std::move(path), .name = std::move(name), .bound = given ? std::filesystem::path() : root};
  // There, a module of the user's own in `modules` would be taken for an installed one.
  if (!lies_plainly_below(data.path, root) && confine(root, {data.path})) {
    return fail(Code::path_outside_root,
                fmt::format("the data directory {} is the root, or a directory above it", data.path.string()),
                "name a directory that holds nothing else, such as .terraform");
  }
  // What lies below is replaced and deleted: a link there would do that somewhere else.
  for (const std::filesystem::path& below : {data.modules(), data.manifest(), data.ours(), data.file_lists()}) {
    if (auto inside = confine(below, {data.path}); !inside) {
      return fail(with_note(std::move(inside.error()),
                            "the data directory must hold its own files and directories, not links"));
    }
  }
  return data;
}

std::optional<std::filesystem::path> DataDirectory::place_of(std::string_view key) const {
  const bool plain = !key.empty() && key != "." && key != ".." && key != "modules.json" && key.size() < 256 &&
                     key.find('/') == std::string_view::npos && key.find('\0') == std::string_view::npos;
  return plain ? std::optional(modules() / key) : std::nullopt;
}

Result<PinnedDirectory> DataDirectory::pin(const std::filesystem::path& directory) const {
  // These have the errors of the rules.
  MODLOCK_TRY(confine(directory, {path}));
  if (!bound.empty()) {
    MODLOCK_TRY(confine(path, {bound}));
  }
  // Links may have changed since: what counts is where the path leads now, and from here on no link is followed.
  std::error_code error;
  const auto real = [&](const std::filesystem::path& of) {
    return error ? std::filesystem::path() : std::filesystem::weakly_canonical(of, error);
  };
  const std::filesystem::path target = real(directory);
  const bool has_place = is_inside(target, real(path)) && (bound.empty() || is_inside(target, real(bound)));
  if (error || !has_place) {
    return fail(Code::io_error, fmt::format("cannot open the directory \"{}\": {}", directory.string(),
                                            error ? error.message() : "it was replaced by a link"));
  }
  return PinnedDirectory::open_or_make(target.root_path(), target.relative_path());
}

namespace {

// "process 4711 (tofu-modlock)"; a process that has ended, or of another container, has no name here.
std::string describe_process(long process) {
  if (process == 0) {
    return "another process";
  }
  std::string name = read_file(fmt::format("/proc/{}/comm", process)).value_or("");
  if (name.ends_with('\n')) {
    name.pop_back();
  }
  return fmt::format("process {}{}", process, name.empty() ? "" : fmt::format(" ({})", escape_controls(name)));
}

}  // namespace

Result<std::optional<FileLock>> lock_root(const DataDirectory& data, const Context& context, LockPatience patience) {
  const auto ours = data.pin(data.ours());
  if (!ours) {
    return std::nullopt;
  }
  std::string holder = "another process";
  patience.tell = [&](long process) {
    holder = describe_process(process);
    context.log->write(LogLevel::warning,
                       fmt::format("waiting for {}, which writes in {}", holder, escape_controls(data.path.string())));
  };
  auto held = FileLock::acquire(ours->path() / "guard", context, &patience);
  if (!held && held.error().code == Code::timeout) {
    held.error().message = fmt::format("{} has not come to an end in {}", holder, data.path.string());
  }
  if (!held) {
    return held.error().code == Code::io_error ? Result<std::optional<FileLock>>(std::nullopt)
                                               : fail(std::move(held.error()));
  }
  std::error_code ignored;
  for (std::filesystem::directory_iterator at(ours->path(), ignored), end; !ignored && at != end;
       at.increment(ignored)) {
    if (at->path().filename().string().starts_with("tmp-")) {
      (void)remove_tree(at->path());
    }
  }
  remove_unfinished_writes(ours->path());
  if (const auto files = PinnedDirectory::open(ours->path(), "files")) {
    remove_unfinished_writes(files->path());
  }
  return std::move(*held);
}

}  // namespace modlock
