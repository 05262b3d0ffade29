#include "plugin/update/configuration_edit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "backends/address/git_reference.h"
#include "backends/base/collections.h"
#include "plugin/constraint/provider_constraint.h"
#include "plugin/lock/locked_text.h"
#include "plugin/resolve/module_node.h"
#include "plugin/resolve/selection.h"
#include "plugin/resolve/subject.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

struct WrittenUse {
  const TreeModule* module = nullptr;
  const SourceText* constraint = nullptr;
  const ConfigText* file = nullptr;

  std::string path() const { return join_relative(module->directory, constraint->location.path); }
};

// `refusal_of` returns why the files of a module, given by its key, cannot be edited; empty: they can.
std::vector<WrittenUse> editable_uses(const ModuleTree& tree, const ProviderAddress& address, const auto& refusal_of) {
  std::vector<WrittenUse> uses;
  for (const TreeModule& module : tree.modules) {
    if (module.of_tests || !refusal_of(module.key).empty()) {
      continue;
    }
    for (const ProviderRequirement& requirement : module.parsed->providers) {
      if (requirement.address != address || !requirement.constraint || !requirement.constraint->location.range) {
        continue;
      }
      const std::string& path = requirement.constraint->location.path;
      if (const ConfigText* file = find_by(module.parsed->files, path, &ConfigText::path)) {
        uses.push_back({&module, &*requirement.constraint, file});
      }
    }
  }
  return uses;
}

Result<FileSplice> rewrite(const WrittenUse& use, const std::string& text, const RequestedUpdate& update) {
  const Range& range = *use.constraint->location.range;
  const std::string& file = use.file->text;
  const bool is_quoted = range.end.byte >= range.start.byte + 2 && file[range.start.byte] == '"';
  std::vector<std::size_t> places;
  const Quoting quoting = use.file->json ? Quoting::json : Quoting::quoted;
  if (is_quoted) {
    Range inside = range;
    ++inside.start.byte;
    --inside.end.byte;
    places = places_of(use.constraint->text, inside, quoting, file);
  }
  if (places.empty() || places.back() + 1 != range.end.byte) {
    return fail(Error{.code = Code::config_non_static,
                      .message = fmt::format("the constraint of {} should become \"{}\", and {}:{} has no plain text",
                                             update.subject, text, use.path(), range.start.line),
                      .subject = update.subject,
                      .location = Location{use.path(), range},
                      .hint = "change it by hand, or write it as a literal"});
  }
  return FileSplice{use.path(), places.front(), places.back(), spell(text, quoting)};
}

bool names_exactly(const std::string& text) {
  const auto parsed = ProviderConstraint::parse(text);
  return parsed && std::ranges::any_of(parsed->items(), [](const ProviderConstraint::Item& item) {
           return item.comparator == Comparator::equal;
         });
}

Result<std::string> changed(const WrittenUse& use, const RequestedUpdate& update) {
  if (update.new_constraint) {
    return *update.new_constraint;
  }
  const std::string& before = use.constraint->text;
  if (!names_exactly(before) && lets_in(before, *update.new_version, ConstraintDialect::provider)) {
    return before;
  }
  return let_in(before, *update.new_version, ConstraintDialect::provider);
}

// Returns the constraints that the new one replaces.
Result<std::vector<WrittenUse>> replaced(std::vector<WrittenUse> uses, const RequestedUpdate& update) {
  if (auto valid = ProviderConstraint::parse(*update.new_constraint); !valid) {
    return fail(placed(std::move(valid.error()), update.subject));
  }
  auto of_root = filtered(uses, [](const WrittenUse& use) { return use.module->key.empty(); });
  if (uses.empty()) {
    return fail(Error{.code = Code::invalid_params,
                      .message = fmt::format("{} has no version constraint that could be changed", update.subject),
                      .subject = update.subject,
                      .hint = "write one into required_providers, or request a version"});
  }
  return of_root.empty() ? std::move(uses) : std::move(of_root);
}

std::string caller_of(const std::string& key) {
  const std::size_t dot = key.rfind('.');
  return dot == std::string::npos ? "" : key.substr(0, dot);
}

tl::unexpected<Error> unusable(const ModuleNode& node, std::string message, std::string hint = {}) {
  return fail(
      node.error(Code::invalid_params, fmt::format("{} {}", node.subject(), std::move(message)), std::move(hint)));
}

// Returns the middle part in which two texts differ.
Splice difference(std::string_view before, std::string_view after) {
  const auto first = std::mismatch(before.begin(), before.end(), after.begin(), after.end());
  const auto last = std::mismatch(before.rbegin(), std::make_reverse_iterator(first.first), after.rbegin(),
                                  std::make_reverse_iterator(first.second));
  return {static_cast<std::size_t>(first.first - before.begin()),
          static_cast<std::size_t>(last.first.base() - before.begin()), std::string(first.second, last.second.base())};
}

}  // namespace

ConfigurationEditor::ConfigurationEditor(const WalkRequest& walk, const ModuleTree& tree, const VariableValues& values,
                                         SourceFetcher& fetcher, std::optional<UpdatePin> pin)
    : walk_(walk), tree_(tree), values_(values), fetcher_(fetcher), pin_(pin) {}

const EditedModule& ConfigurationEditor::module_at(const std::string& key) {
  if (const EditedModule* known = find_in(modules_, key)) {
    return *known;
  }
  const TreeModule* read = find_by(tree_.modules, key, &TreeModule::key);
  EditedModule module{.parsed = read->parsed.get(), .directory = read->directory};
  if (key.empty()) {
    module.values = &values_;
  } else {
    const ModuleNode& node = tree_.nodes.find(key)->second;
    module.caller = &module_at(caller_of(key));
    module.call = node.call.written;
    module.refusal =
        node.is_local() ? module.caller->refusal : fmt::format("it is in the package of {}", node.subject());
  }
  return modules_.emplace(key, std::move(module)).first->second;
}

Result<void> ConfigurationEditor::apply_to_provider(RequestedUpdate update) {
  const auto of_subject = [&](Error error) { return placed(std::move(error), update.subject); };
  MODLOCK_TRY(const auto address,
              ProviderAddress::parse(std::string_view(update.subject).substr(kProviderSubject.size()),
                                     default_registry(walk_.tool))
                  .map_error(of_subject));
  if (update.new_version) {
    MODLOCK_TRY(provider_versions_[address],
                ProviderVersion::parse(update.new_version->to_string()).map_error(of_subject));
  }
  update.subject = "provider." + address.to_string();
  auto uses = editable_uses(tree_, address, [this](const std::string& key) { return module_at(key).refusal; });
  if (update.new_constraint) {
    MODLOCK_TRY(uses, replaced(std::move(uses), update));
  }
  for (const WrittenUse& use : uses) {
    auto after = changed(use, update);
    if (!after) {
      return fail(
          placed(std::move(after.error()), update.subject, Location{use.path(), use.constraint->location.range}));
    }
    if (*after != use.constraint->text) {
      MODLOCK_TRY(splices_.emplace_back(), rewrite(use, *after, update));
    }
  }
  return {};
}

Result<void> ConfigurationEditor::apply(const RequestedUpdate& update) {
  if (update.subject.starts_with(kProviderSubject)) {
    return apply_to_provider(update);
  }
  constexpr std::string_view kModule = "module.";
  const ModuleNode* found =
      update.subject.starts_with(kModule) ? find_in(tree_.nodes, update.subject.substr(kModule.size())) : nullptr;
  if (found == nullptr) {
    return fail(unknown_subject(update.subject, module_subjects(tree_)));
  }
  const ModuleNode& node = *found;
  if (node.address.source.traits().versions == SourceVersions::none) {
    return unusable(node, "has no versions");
  }
  if (const auto prefix = tag_prefix_of(update.tag); prefix && !prefix->empty() && *prefix != tag_prefix_of(node)) {
    return unusable(
        node, fmt::format("has no tags that start with \"{}\"", *prefix),
        fmt::format("write the version without it: {}={}", update.subject, update.new_version->to_string()));
  }
  const bool has_constraint = !node.constraints.empty() || node.commit;
  if (update.new_constraint && !has_constraint) {
    return unusable(node, "has no version constraint that could be changed", "request a version");
  }
  const bool becomes_reference = pin_ && node.call.version && !node.address.source.is_registry();
  if (update.new_version && (!chooses_version(node) || becomes_reference)) {
    MODLOCK_TRY(change_reference(node, update));
    return becomes_reference ? drop_version_argument(node) : Result<void>();
  }
  if (update.new_version) {
    versions_.insert_or_assign(node.key, *update.new_version);
  }
  return change_constraints(node, update);
}

Result<void> ConfigurationEditor::change_constraints(const ModuleNode& node, const RequestedUpdate& update) {
  if (node.call.version) {
    const std::string& before = node.call.version->text;
    auto after =
        update.new_constraint ? Result<std::string>(*update.new_constraint) : let_in(before, *update.new_version);
    if (after) {
      MODLOCK_TRY(ModuleConstraint::parse(*after));
    }
    if (!after) {
      return fail(placed(std::move(after.error()), node.subject(), node.call.version->location));
    }
    MODLOCK_TRY(change_value(node, "version", before, {0, before.size(), *after}));
  }
  for (const ConstraintUse& use : node.constraints) {
    const bool is_argument = node.call.version && use.location.path == node.call.version->location.path &&
                             use.location.range == node.call.version->location.range;
    // If there are both, a new constraint replaces that of the argument.
    if (!is_argument && (update.new_version || !node.call.version)) {
      MODLOCK_TRY(change_rule(use, update));
    }
  }
  return {};
}

Result<void> ConfigurationEditor::change_rule(const ConstraintUse& rule, const RequestedUpdate& update) {
  MODLOCK_TRY(auto file, text_of(rule.location.path));
  const Range& range = *rule.location.range;
  const std::size_t start = range.start.byte + 1;  // after the quote
  const std::string before = file.substr(start, range.end.byte - 1 - start);
  auto after =
      update.new_constraint ? Result<std::string>(*update.new_constraint) : let_in(before, *update.new_version);
  if (!after) {
    after.error().location = rule.location;
    return fail(std::move(after.error()));
  }
  if (*after != before) {
    splices_.push_back({rule.location.path, start, start + before.size(), spell(*after, Quoting::quoted)});
  }
  return {};
}

Result<ListedVersion> ConfigurationEditor::find_version(const ModuleNode& node, const RequestedUpdate& update,
                                                        bool by_id) {
  const Version& version = *update.new_version;
  const std::string prefix = tag_prefix_of(node);
  fetcher_.list(std::array{SourceFetcher::ListingRequest{&node.address, prefix}});
  const Result<Listing>& listing = fetcher_.listing(node.address, prefix);
  if (!listing) {
    return fail(listing.error());
  }
  const ListedVersion* listed = find_where(listing->versions, [&](const ListedVersion& offered) {
    const bool is_build = offered.version.metadata() == version.metadata();
    return offered.version == version && (version.metadata().empty() || is_build);
  });
  if (listed == nullptr) {
    return fail(node.error(Code::no_matching_version, fmt::format("{} has no version {}; the newest are {}",
                                                                  node.address.source.package_identity(),
                                                                  version.to_string(), newest_versions(*listing))));
  }
  const std::string other = version.metadata().empty() ? find_other_tag(*listing, *listed) : listed->ambiguous_with;
  const std::string spelling = update.tag.empty() ? node.address.source.named_tag() : update.tag;
  if (!other.empty() && !spelling.empty()) {
    auto spelled = find_spelled(*listing, version, prefix, spelling);
    if (spelled && (!by_id || !spelled->id.empty())) {
      return std::move(*spelled);
    }
  }
  return check_unambiguous(*listed, node.constraints, node.address.source.package_identity(), other);
}

Result<void> ConfigurationEditor::change_reference(const ModuleNode& node, const RequestedUpdate& update) {
  const SourceTraits& traits = node.address.source.traits();
  const std::string_view tag_argument = node.address.source.reference_argument();
  const bool by_id = pin_ ? *pin_ == UpdatePin::immutable : !node.address.source.named_id().empty();
  const std::string_view argument = by_id ? traits.id_argument : tag_argument;
  if (argument.empty()) {
    return unusable(node, "specifies its version in an unknown way", "change the source by hand");
  }
  MODLOCK_TRY(auto listed, find_version(node, update, by_id));
  if (by_id) {
    pinned_.insert_or_assign(node.key, listed);
  }
  const std::string& source = node.call.source.text;
  const std::string reference =
      by_id ? listed.id : reference_to_tag(node.address.source.query_value(tag_argument), listed.tag);
  const Splice splice = set_query_argument(source, {tag_argument, traits.id_argument}, argument, reference);
  return change_value(node, "source", source, splice);
}

Result<void> ConfigurationEditor::change_value(const ModuleNode& node, std::string_view argument,
                                               const std::string& before, const Splice& splice) {
  const std::string after = splice.apply(before);
  if (after == before) {
    return {};
  }
  const auto pieces = trace_text(node.call.written->find(argument), module_at(caller_of(node.key)));
  auto written = splice_value(pieces, before, splice.start, splice.end, splice.text);
  if (!written) {
    // The actual difference may be in one place.
    const Splice smallest = difference(before, after);
    if (auto second = splice_value(pieces, before, smallest.start, smallest.end, smallest.text)) {
      written = std::move(second);
    }
  }
  if (!written) {
    Error error = std::move(written.error());
    error.message = fmt::format("the {} of {} should become \"{}\", and {}", argument, node.subject(),
                                argument == "source" ? splice.text : after, error.message);
    return fail(placed(std::move(error), node.subject(),
                       argument == "source" ? node.call.source.location : node.call.version->location));
  }
  splices_.push_back(std::move(*written));
  return {};
}

Result<void> ConfigurationEditor::drop_version_argument(const ModuleNode& node) {
  const EditedModule& module = module_at(caller_of(node.key));
  const Argument argument = node.call.written->find("version");
  const std::string path = join_relative(module.directory, argument.file->path);
  if (!module.refusal.empty() || argument.file->json) {
    return unusable(node, fmt::format("has a version argument in {} that cannot be removed", path),
                    "remove it by hand");
  }
  const std::string& text = argument.file->text;
  const Range range = argument.attribute->range();
  const std::size_t start = std::string_view(text).substr(0, range.start.byte).find_last_not_of(" \t") + 1;
  const std::size_t end = text.find_first_not_of(" \t\r", range.end.byte);
  const bool has_own_lines = (start == 0 || text[start - 1] == '\n') && end < text.size() && text[end] == '\n';
  splices_.push_back({path, has_own_lines ? start : range.start.byte, has_own_lines ? end + 1 : range.end.byte, ""});
  return {};
}

Result<std::string> ConfigurationEditor::text_of(const std::string& path) const {
  MODLOCK_TRY(auto text, read_once(document_path(walk_.root / path), walk_.documents));
  if (!text) {
    return fail(Code::not_found, fmt::format("{} is gone", path));
  }
  return std::move(*text);
}

Result<std::map<std::string, ConfigurationEditor::EditedFile>> ConfigurationEditor::files() const {
  std::vector<FileSplice> ordered = splices_;
  const auto place = [](const FileSplice& splice) { return std::tie(splice.path, splice.start, splice.end); };
  std::ranges::sort(ordered,
                    [&](const FileSplice& left, const FileSplice& right) { return place(left) < place(right); });
  ordered.erase(std::unique(ordered.begin(), ordered.end()), ordered.end());
  for (std::size_t i = 1; i < ordered.size(); ++i) {
    if (ordered[i].path == ordered[i - 1].path && ordered[i].start < ordered[i - 1].end) {
      return fail(Code::config_parse,
                  fmt::format("{} would have to contain both \"{}\" and \"{}\" in one place", ordered[i].path,
                              ordered[i - 1].text, ordered[i].text),
                  "the calls share this text: update them together to the same version");
    }
  }
  std::map<std::string, EditedFile> files;
  for (auto splice = ordered.rbegin(); splice != ordered.rend(); ++splice) {
    EditedFile& file = files[splice->path];
    if (file.before.empty()) {
      MODLOCK_TRY(file.before, text_of(splice->path));
      file.after = file.before;
    }
    file.after.replace(splice->start, splice->end - splice->start, splice->text);
  }
  return files;
}

}  // namespace modlock
