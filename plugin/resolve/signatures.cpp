#include "plugin/resolve/signatures.h"

#include <fmt/format.h>

#include <array>

#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "plugin/lock/locked_text.h"
#include "plugin/resolve/selection.h"
#include "protocol/base/result.h"

namespace modlock {

std::vector<const SourceRule*> signature_rules(const Settings& settings, const Source& source) {
  const std::string identity = source.identity();
  std::vector<const SourceRule*> rules;
  for (const SourceRule& rule : settings.sources) {
    if (rule.signature && matches_source(rule.glob, identity)) {
      rules.push_back(&rule);
    }
  }
  return rules;
}

Result<std::vector<std::string>> SignatureCheck::verify(const ModuleNode& node,
                                                        const std::optional<std::string>& version,
                                                        const std::string& id) {
  std::vector<std::string> signers;
  for (const SourceRule* rule : signature_rules(settings_, node.address.source)) {
    MODLOCK_TRY(const auto reference, find_reference(node, version));
    const FetchRequest request{.id = id, .ref = reference, .locked = true};
    const std::string key =
        fmt::format("{}\n{}\n{}\n{}", fmt::ptr(rule), SourceFetcher::package_key(node.address), reference, id);
    auto known = verified_.find(key);
    if (known == verified_.end()) {
      known = verified_.emplace(key, verify_rule(*rule, node, request)).first;
    }
    if (!known->second) {
      return fail(placed(known->second.error(), node.subject(), rule->signature->file.location));
    }
    signers.push_back(*known->second);
  }
  return signers;
}

// The tag of a version; otherwise what the source names.
Result<std::string> SignatureCheck::find_reference(const ModuleNode& node, const std::optional<std::string>& version) {
  if (node.commit) {
    return std::string();
  }
  if (!version) {
    return node.address.source.named_reference();
  }
  fetcher_.list(std::array{SourceFetcher::ListingRequest{&node.address, node.tag_prefix}});
  const auto& listing = fetcher_.listing(node.address, node.tag_prefix);
  if (!listing) {
    return fail(listing.error());
  }
  if (const ListedVersion* listed = find_listed(*listing, *version)) {
    return listed->ref;
  }
  return fail(Error{.code = Code::signature_invalid,
                    .message = fmt::format("version {} of \"{}\" has no valid signature: it has no tag", *version,
                                           node.address.source.package_identity()),
                    .subject = node.subject()});
}

Result<std::string> SignatureCheck::verify_rule(const SourceRule& rule, const ModuleNode& node,
                                                const FetchRequest& request) {
  const SignatureRule& signature = *rule.signature;
  auto keys = read_file(signature.path);
  if (!keys) {  // the settings name a missing file; NOT_FOUND would be about the source
    keys.error().code = keys.error().code == Code::not_found ? Code::config_parse : keys.error().code;
    return fail(std::move(keys.error()));
  }
  const SignatureDemand demand{
      .format = signature.is_openpgp ? SignatureDemand::Format::openpgp : SignatureDemand::Format::ssh,
      .keys = *keys,
      .keys_name = signature.file.text,
      .of_commit = signature.of_commit};
  MODLOCK_TRY(auto signer,
              fetcher_.backend(node.address.source)->verify_signature(node.address, request, demand, context_));
  if (!rule.of_user) {
    note_keys(rule, node, *keys);
  }
  return signer;
}

void SignatureCheck::note_keys(const SourceRule& rule, const ModuleNode& node, const std::string& keys) {
  const Source& source = node.address.source;
  const std::string name = "keys " + rule.signature->path.string();
  const std::string digest = sha256_hex(keys);
  const bool is_known = fetcher_.first_seen_as(source, name, digest).has_value();
  fetcher_.note(source, name, digest);
  if (is_known || fetcher_.other_id(source, name, digest).empty()) {
    return;
  }
  warnings_.push_back(as_warning(
      {.code = Code::setting_unserved,
       .message = fmt::format("the keys in \"{}\" have changed since a signature of \"{}\" was last verified",
                              rule.signature->file.text, source.package_identity()),
       .subject = node.subject(),
       .location = rule.signature->file.location,
       .hint = "review the change of the file before you commit the lock file"}));
}

}  // namespace modlock
