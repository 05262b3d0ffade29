#include "plugin/update/provider_edit.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugin/constraint/provider_constraint.h"
#include "plugin/update/constraint_change.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

struct WrittenUse {
  const TreeModule* module = nullptr;
  const SourceText* constraint = nullptr;
  const ConfigText* file = nullptr;

  std::string path() const { return join_relative(module->directory, constraint->location.path); }
};

std::vector<WrittenUse> editable_uses(const ModuleTree& tree, const ProviderAddress& address,
                                      const RefusalOf& refusal_of) {
  std::vector<WrittenUse> uses;
  for (const TreeModule& module : tree.modules) {
    if (module.of_tests || !refusal_of(module.key).empty()) {
      continue;
    }
    for (const ProviderRequirement& requirement : module.parsed->providers) {
      if (requirement.address != address || !requirement.constraint || !requirement.constraint->location.range) {
        continue;
      }
      const auto& files = module.parsed->files;
      const auto file = std::find_if(files.begin(), files.end(), [&](const ConfigText& text) {
        return text.path == requirement.constraint->location.path;
      });
      if (file != files.end()) {
        uses.push_back({&module, &*requirement.constraint, &*file});
      }
    }
  }
  return uses;
}

Result<FileSplice> rewrite(const WrittenUse& use, const std::string& text, const ProviderUpdate& update) {
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
                                             update.subject(), text, use.path(), range.start.line),
                      .subject = update.subject(),
                      .location = Location{use.path(), range},
                      .hint = "change it by hand, or write it as a literal"});
  }
  return FileSplice{use.path(), places.front(), places.back(), spell(text, quoting)};
}

bool names_exactly(const std::string& text) {
  const auto parsed = ProviderConstraint::parse(text);
  return parsed &&
         std::any_of(parsed->items().begin(), parsed->items().end(),
                     [](const ProviderConstraint::Item& item) { return item.comparator == Comparator::equal; });
}

Result<std::string> changed(const WrittenUse& use, const ProviderUpdate& update) {
  if (update.new_constraint) {
    return *update.new_constraint;
  }
  const std::string& before = use.constraint->text;
  if (!names_exactly(before) && lets_in(before, *update.new_version, ConstraintDialect::provider)) {
    return before;
  }
  return let_in(before, *update.new_version, ConstraintDialect::provider);
}

// Those that the new constraint replaces.
Result<std::vector<WrittenUse>> replaced(std::vector<WrittenUse> uses, const ProviderUpdate& update) {
  if (auto valid = ProviderConstraint::parse(*update.new_constraint); !valid) {
    valid.error().subject = update.subject();
    return fail(std::move(valid.error()));
  }
  std::vector<WrittenUse> of_root;
  std::copy_if(uses.begin(), uses.end(), std::back_inserter(of_root),
               [](const WrittenUse& use) { return use.module->key.empty(); });
  if (uses.empty()) {
    return fail(Error{.code = Code::invalid_params,
                      .message = fmt::format("{} has no version constraint that could be changed", update.subject()),
                      .subject = update.subject(),
                      .hint = "write one into required_providers, or ask for a newVersion"});
  }
  return of_root.empty() ? std::move(uses) : std::move(of_root);
}

}  // namespace

Result<std::vector<FileSplice>> change_provider_constraints(const ModuleTree& tree, const ProviderUpdate& update,
                                                            const RefusalOf& refusal_of) {
  auto uses = editable_uses(tree, update.address, refusal_of);
  if (update.new_constraint) {
    MODLOCK_TRY(auto chosen, replaced(std::move(uses), update));
    uses = std::move(chosen);
  }
  std::vector<FileSplice> splices;
  for (const WrittenUse& use : uses) {
    auto after = changed(use, update);
    if (!after) {
      after.error().subject = update.subject();
      after.error().location = Location{use.path(), use.constraint->location.range};
      return fail(std::move(after.error()));
    }
    if (*after == use.constraint->text) {
      continue;
    }
    MODLOCK_TRY(auto splice, rewrite(use, *after, update));
    splices.push_back(std::move(splice));
  }
  return splices;
}

}  // namespace modlock
