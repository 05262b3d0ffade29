#include "plugin/config/body_rules.h"

namespace modlock {
namespace {

constexpr BodyRule kJustArguments = {.others = ExtraArguments::arguments};

constexpr std::array kProviderBlocks = {BlockRule{"_"}, BlockRule{"lifecycle"}, BlockRule{"locals"}};
constexpr BodyRule kProvider = {.blocks = kProviderBlocks, .others = ExtraArguments::all};

constexpr std::array kPlanOptionsArguments = {
    ArgumentRule{"mode"},
    ArgumentRule{"refresh"},
    ArgumentRule{"replace"},
    ArgumentRule{"target"},
};
constexpr BodyRule kPlanOptions = {.arguments = kPlanOptionsArguments};

constexpr std::array kAssertArguments = {ArgumentRule{"condition", true}, ArgumentRule{"error_message", true}};
constexpr BodyRule kAssert = {.arguments = kAssertArguments};

constexpr std::array kRunModuleArguments = {ArgumentRule{"source"}, ArgumentRule{"version"}};
constexpr BodyRule kRunModule = {.arguments = kRunModuleArguments};

constexpr std::array kOverrideArguments = {
    ArgumentRule{"target", true},
    ArgumentRule{"values"},
    ArgumentRule{"override_during", false, SupportedBy::by_terraform},
};
constexpr BodyRule kOverride = {.arguments = kOverrideArguments};
constexpr std::array kOverrideModuleArguments = {
    ArgumentRule{"target", true},
    ArgumentRule{"outputs"},
    ArgumentRule{"override_during", false, SupportedBy::by_terraform},
};
constexpr BodyRule kOverrideModule = {.arguments = kOverrideModuleArguments};

constexpr std::array kRunArguments = {
    ArgumentRule{"command"},
    ArgumentRule{"providers"},
    ArgumentRule{"expect_failures"},
    ArgumentRule{"state_key", false, SupportedBy::by_terraform},
};
constexpr std::array kRunBlocks = {
    BlockRule{"plan_options", {}, &kPlanOptions},       BlockRule{"assert", {}, &kAssert},
    BlockRule{"variables", {}, &kJustArguments},        BlockRule{"module", {}, &kRunModule},
    BlockRule{"override_resource", {}, &kOverride},     BlockRule{"override_data", {}, &kOverride},
    BlockRule{"override_module", {}, &kOverrideModule},
};
constexpr BodyRule kRun = {kRunArguments, kRunBlocks};

constexpr std::array kMockArguments = {
    ArgumentRule{"defaults"},
    ArgumentRule{"override_during", false, SupportedBy::by_terraform},
};
constexpr BodyRule kMock = {.arguments = kMockArguments};
constexpr std::array kMockProviderArguments = {
    ArgumentRule{"alias"},
    ArgumentRule{"for_each", false, SupportedBy::by_opentofu},
    ArgumentRule{"source", false, SupportedBy::by_terraform},
    ArgumentRule{"override_during", false, SupportedBy::by_terraform},
};
constexpr std::array kMockProviderBlocks = {
    BlockRule{"mock_resource", {"type"}, &kMock},
    BlockRule{"mock_data", {"type"}, &kMock},
    BlockRule{"override_resource", {}, &kOverride},
    BlockRule{"override_data", {}, &kOverride},
};
constexpr BodyRule kMockProvider = {kMockProviderArguments, kMockProviderBlocks};

constexpr std::array kTestFileBlocks = {
    BlockRule{"run", {"name"}, &kRun},
    BlockRule{"provider", {"name"}, &kProvider},
    BlockRule{"variables", {}, &kJustArguments},
    BlockRule{"override_resource", {}, &kOverride},
    BlockRule{"override_data", {}, &kOverride},
    BlockRule{"override_module", {}, &kOverrideModule},
    BlockRule{"mock_provider", {"name"}, &kMockProvider},
};
constexpr BodyRule kTestFile = {{}, kTestFileBlocks};

}  // namespace

const BodyRule& test_file_rule() {
  return kTestFile;
}

}  // namespace modlock
