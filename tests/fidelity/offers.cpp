#include "tests/fidelity/offers.h"

#include <functional>

namespace modlock::fidelity {
namespace {

using Release = test::PublishedProvider;
using Signing = Release::Signing;

const std::vector<std::string> kAll = {"linux_amd64", "linux_arm64", "darwin_arm64", "windows_amd64"};

class Shelf {
 public:
  explicit Shelf(test::ProviderRegistry& registry) : registry_(registry) {}

  // Publishes a provider; `adapt` makes of each release what it is to be.
  void add(const std::string& name, const std::vector<std::string>& versions, bool is_sound,
           const std::function<void(Release&)>& adapt = {}) {
    Offer offer{.name = name, .versions = versions, .platforms = kAll, .is_sound = is_sound};
    for (const std::string& version : versions) {
      Release release{.name = name, .version = version, .platforms = kAll};
      if (adapt) {
        adapt(release);
      }
      offer.platforms = release.platforms;
      registry_.publish(release);
    }
    offers_.push_back(std::move(offer));
  }
  void remember(Offer offer) { offers_.push_back(std::move(offer)); }
  std::vector<Offer> take() { return std::move(offers_); }

 private:
  test::ProviderRegistry& registry_;
  std::vector<Offer> offers_;
};

void with_packages(Release& release) {
  release.lists_packages = true;
}

void add_sound(Shelf& shelf) {
  shelf.add("hashicorp/alpha",
            {"1.0.0", "1.1.0", "2.0.0-beta1", "1.10.0", "1.2.0", "2.0.0-beta2", "2.0.0", "2.1.0-rc.1"}, true,
            with_packages);
  shelf.add("hashicorp/bravo", {"0.9.0", "1.0.0", "1.0.1", "1.4.2", "3.0.0"}, true);
  shelf.add("a/echo", {"1.0.0", "1.2.3"}, true, with_packages);
  shelf.add("a-b/echo", {"1.0.0", "1.2.3"}, true);
  shelf.add("acme/noted", {"1.0.0+build.1", "1.1.0+build.2", "1.1.0-pre+x.y", "1.2.0"}, true, with_packages);
  shelf.add("acme/directories", {"0.1.0", "0.2.0", "1.0.0"}, true, [](Release& release) {
    release.lists_packages = true;
    release.entries = {{.name = "docs/", .mode = 0755, .type = test::ArchiveEntry::Type::directory},
                       {.name = "docs/README.md", .content = "# Read me\n"},
                       {.name = "LICENSE", .content = "As you like.\n"}};
  });
  shelf.add("acme/linux", {"1.0.0", "1.5.0", "2.0.0"}, true, [](Release& release) {
    release.lists_packages = release.version != "1.0.0";
    release.platforms = {"linux_amd64", "linux_arm64"};
  });
  shelf.add("acme/expired", {"1.0.0", "1.1.0"}, true, [](Release& release) { release.signing = Signing::expired_key; });
}

// What tofu takes from its default registry and nobody else takes.
void add_unsigned(Shelf& shelf) {
  const auto without_keys = [](Release& release) { release.signing = Signing::unsigned_release; };
  shelf.add("acme/charlie", {"1.0.0", "1.1.0", "2.0.0"}, true, [&](Release& release) {
    without_keys(release);
    with_packages(release);
  });
  shelf.add("acme/delta", {"0.1.0", "0.2.0"}, true, without_keys);
}

void add_badly_signed(Shelf& shelf) {
  shelf.add("bad/signature", {"1.0.0", "1.1.0"}, false, [](Release& release) {
    release.signing = release.version == "1.1.0" ? Signing::bad_signature : Signing::valid;
  });
  shelf.add("bad/key", {"1.0.0"}, false, [](Release& release) { release.signing = Signing::unknown_key; });
  shelf.add("bad/late", {"1.0.0"}, false, [](Release& release) { release.signing = Signing::expired_signature; });
  shelf.add("bad/armor", {"1.0.0"}, false, [](Release& release) { release.signing = Signing::malformed; });
}

void add_badly_packed(Shelf& shelf) {
  shelf.add("bad/archive", {"1.0.0"}, false,
            [](Release& release) { release.edit_served_archive = [](std::string& bytes) { bytes += '\n'; }; });
  shelf.add("bad/truncated", {"1.0.0"}, false, [](Release& release) {
    release.edit_archive = [](test::PublishedArchive& archive) { archive.replace(archive.bytes.substr(0, 100)); };
  });
  shelf.add("bad/program", {"1.0.0"}, false, [](Release& release) {
    release.edit_archive = [](test::PublishedArchive& archive) {
      archive.replace(test::make_zip({{.name = "README", .content = "There is no program.\n"}}));
    };
  });
  shelf.add("bad/sums", {"1.0.0"}, false, [](Release& release) {
    release.edit_checksums = [](std::string& sums) { sums += "this is no checksum\n"; };
  });
  shelf.add("bad/other", {"1.0.0"}, false, [](Release& release) {
    release.edit_checksums = [](std::string& sums) { sums = sums.substr(sums.find('\n') + 1); };
  });
  shelf.add("bad/shasum", {"1.0.0"}, false, [](Release& release) {
    release.edit_download = [](Json::Value& body, const std::string&) { body["shasum"] = std::string(64, 'a'); };
  });
  shelf.add("bad/size", {"1.0.0"}, false, [](Release& release) {
    release.lists_packages = true;
    release.edit_download = [](Json::Value& body, const std::string& platform) {
      body["packages"][platform]["package_size"] = 1;
    };
  });
  shelf.add("bad/platform", {"1.0.0"}, false, [](Release& release) {
    release.lists_packages = true;
    release.edit_download = [](Json::Value& body, const std::string& platform) {
      body["packages"].removeMember(platform);
    };
  });
}

void add_others(Shelf& shelf, test::ProviderRegistry& registry) {
  shelf.add("bad/protocol", {"1.0.0"}, false, [](Release& release) { release.protocols = {"4.0"}; });
  shelf.add("bad/nothing", {"0.0.0"}, false);
  shelf.add("bad/early", {"1.0.0-alpha1", "1.0.0-alpha2"}, false);
  shelf.add("bad/listing", {"1.0.0"}, false);
  registry.list("bad/listing", "v1.x");
  shelf.remember({.name = "bad/missing", .versions = {"1.0.0"}, .platforms = kAll, .is_sound = false});
  registry.list("bad/hollow", "1.0.0");
  shelf.remember({.name = "bad/hollow", .versions = {"1.0.0"}, .platforms = kAll, .is_sound = false});
  registry.warn("hashicorp/bravo", "Bravo has a successor.");
}

}  // namespace

std::vector<Offer> publish_offers(test::ProviderRegistry& registry) {
  Shelf shelf(registry);
  add_sound(shelf);
  add_unsigned(shelf);
  add_badly_signed(shelf);
  add_badly_packed(shelf);
  add_others(shelf, registry);
  return shelf.take();
}

}  // namespace modlock::fidelity
