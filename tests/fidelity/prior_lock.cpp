#include "tests/fidelity/prior_lock.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "backends/address/provider_version.h"

namespace modlock::fidelity {
namespace {

struct Entry {
  std::string address;
  std::string version;
  std::string constraints;
  std::vector<std::string> hashes;
};

class Writer {
 public:
  Writer(Chance& chance, const Reader& reader, const test::ProviderRegistry& registry, Case& to)
      : chance_(chance), reader_(reader), registry_(registry), case_(to) {}

  void add(const Requirement& requirement);
  void add_extra();
  std::string text();

 private:
  std::vector<std::string> some_hashes(const Offer& offer, const std::string& version);
  std::string some_version(const Requirement& requirement);
  std::string broken(const std::string& text);
  std::string block(const Entry& entry);
  void mark(const std::string& text) {
    if (std::find(case_.marks.begin(), case_.marks.end(), text) == case_.marks.end()) {
      case_.marks.push_back(text);
    }
  }

  Chance& chance_;
  const Reader& reader_;
  const test::ProviderRegistry& registry_;
  Case& case_;
  std::vector<Entry> entries_;
  bool is_free_style_ = false;  // alignment and order as people leave them
};

constexpr std::size_t kSpecialSets = 7;

std::string bogus(const std::string& scheme, char filler) {
  return scheme == "zh" ? "zh:" + std::string(64, filler) : scheme + ":" + std::string(43, filler) + "=";
}

std::vector<std::string> Writer::some_hashes(const Offer& offer, const std::string& version) {
  std::vector<std::string> h1;
  std::vector<std::string> zh;
  for (const std::string& platform : offer.platforms) {
    const test::PublishedArchive* archive = registry_.find(offer.name, version, platform);
    if (archive != nullptr) {
      h1.push_back(archive->h1);
      zh.push_back(archive->zh);
    }
  }
  if (case_.action != Action::read_only && (h1.empty() || chance_.percent(3))) {
    mark("wrong hashes");
    return {bogus("h1", 'a'), bogus("zh", 'b')};
  }
  switch (case_.action == Action::read_only ? kSpecialSets : chance_.below(16)) {
    case 0:
      mark("no hashes");
      return {};
    case 1:
      mark("h1 of this platform");
      return {h1.front()};
    case 2:
      mark("h1 of another platform");
      return {h1.back()};
    case 3:
      mark("zh alone");
      return zh;
    case 4:
      mark("one zh");
      return {zh.front()};
    case 5:
      mark("unknown scheme");
      return {"h2:abc", h1.front(), "zz:" + std::string(8, '0')};
    case 6:
      mark("a wrong hash too");
      return {bogus("h1", 'c'), "h1:invalid", zh.front()};
    default:
      h1.insert(h1.end(), zh.begin(), zh.end());
      return h1;
  }
}

std::string Writer::some_version(const Requirement& requirement) {
  if (case_.action != Action::read_only && chance_.percent(3)) {
    mark("gone version");
    return "1.0.9";
  }
  return chance_.percent(15) ? chance_.pick(requirement.offer->versions) : requirement.version;
}

void Writer::add(const Requirement& requirement) {
  Entry entry{.address = requirement.address(), .version = some_version(requirement), .constraints = {}, .hashes = {}};
  const ProviderVersion version = *ProviderVersion::parse(entry.version);
  entry.constraints = chance_.pick<std::string>(
      {"", fmt::format("~> {}.{}", version.major, version.minor), entry.version, ">= 0.0.1", ">= 0.1.0, < 9.0.0"});
  entry.hashes = some_hashes(*requirement.offer, entry.version);
  const bool is_of_default = requirement.host == reader_.default_host();
  if (is_of_default && chance_.percent(reader_.is_terraform ? 3 : 12)) {
    mark("other registry's entry");
    entry.address = reader_.other_host() + "/" + requirement.offer->name;
  }
  entries_.push_back(std::move(entry));
}

void Writer::add_extra() {
  mark("extra provider");
  entries_.push_back(
      {.address = chance_.pick<std::string>({reader_.default_host() + "/hashicorp/unused",
                                             reader_.other_host() + "/hashicorp/unused", "zzz.example.test/a/unused"}),
       .version = "1.2.3",
       .constraints = chance_.percent(50) ? "~> 1.2" : "",
       .hashes = {bogus("h1", 'd'), bogus("zh", 'e')}});
}

std::string Writer::block(const Entry& entry) {
  std::string text = fmt::format("provider \"{}\" {{\n", entry.address);
  const bool is_aligned = !entry.constraints.empty() && !is_free_style_;
  text += fmt::format("  version{} = \"{}\"\n", is_aligned ? "    " : "", entry.version);
  text += entry.constraints.empty() ? "" : fmt::format("  constraints = \"{}\"\n", entry.constraints);
  if (!entry.hashes.empty() && is_free_style_) {
    text += fmt::format("  hashes = [\"{}\"] # found\n", fmt::join(entry.hashes, "\", \""));
  } else if (!entry.hashes.empty()) {
    text += fmt::format("  hashes = [\n    \"{}\",\n  ]\n", fmt::join(entry.hashes, "\",\n    \""));
  }
  return text + "}\n";
}

// One thing that no client reads.
std::string Writer::broken(const std::string& text) {
  mark("broken lock");
  const std::string label = reader_.default_host() + "/hashicorp/alpha";
  return text + chance_.pick<std::string>({
                    "provider \"hashicorp/alpha\" {\n  version = \"1.0.0\"\n}\n",
                    "provider \"" + label + "x\" {\n  version = \"1.0\"\n}\n",
                    "provider \"" + label + "x\" {\n  version = \"v1.0.0\"\n}\n",
                    "provider \"" + label + "x\" {\n}\n",
                    "provider \"" + label + "x\" {\n  version = \"1.0.0\"\n  constraints = \"~> 1\"\n}\n",
                    "provider \"" + label + "x\" {\n  version = \"1.0.0\"\n  hashes = []\n}\n",
                    "provider \"" + label + "x\" {\n  version = \"1.0.0\"\n  hashes = [\"abc\"]\n}\n",
                    "provider \"" + label + "x\" {\n  version = \"1.0.0\"\n  extra = true\n}\n",
                    "provider \"" + label + "x\" {\n  version = \"1.0.0\"\n}\nprovider \"" + label +
                        "x\" {\n  version = \"1.0.0\"\n}\n",
                    "provider \"-/alpha\" {\n  version = \"1.0.0\"\n}\n",
                    "provider \"terraform.io/builtin/terraform\" {\n  version = \"1.0.0\"\n}\n",
                    "provider {\n",
                    "version = 1\n",
                });
}

std::string Writer::text() {
  is_free_style_ = chance_.percent(15);
  if (is_free_style_) {
    mark("free style");
    chance_.shuffle(entries_);
  } else {
    std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) { return a.address < b.address; });
    for (Entry& entry : entries_) {
      std::sort(entry.hashes.begin(), entry.hashes.end());
    }
  }
  const bool has_other_header = chance_.percent(15);
  std::string text = fmt::format(
      "# This file is maintained automatically by \"{} init\".\n# Manual edits may be lost in future updates.\n",
      has_other_header ? "terraform" : reader_.command());
  if (chance_.percent(15)) {
    mark("comments");
    text += "\n// Reviewed.\n/* Twice. */\n";
  }
  for (const Entry& entry : entries_) {
    text += "\n" + block(entry);
  }
  if (chance_.percent(6)) {
    text = broken(text);
  }
  if (chance_.percent(12)) {
    mark("CRLF");
    std::string lines;
    for (const char c : text) {
      lines += c == '\n' ? std::string("\r\n") : std::string(1, c);
    }
    text = std::move(lines);
  }
  return text;
}

}  // namespace

void write_prior_lock(Chance& chance, const Reader& reader, const test::ProviderRegistry& registry,
                      const std::vector<Requirement>& requirements, Case& to) {
  Writer writer(chance, reader, registry, to);
  for (const Requirement& requirement : requirements) {
    if (to.action == Action::read_only || chance.percent(85)) {
      writer.add(requirement);
    }
  }
  if (chance.percent(to.action == Action::read_only ? 10 : 30)) {
    writer.add_extra();
  }
  to.files[kLockName] = writer.text();
}

}  // namespace modlock::fidelity
