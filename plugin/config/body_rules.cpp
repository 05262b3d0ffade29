#include "plugin/config/body_rules.h"

namespace modlock {
namespace {

// Data of the rules, each array named after its block.
constexpr BodyRule kJustArguments = {.others = ExtraArguments::arguments};

// Fallbacks hold fallbacks.
extern const BodyRule kFallback;
constexpr std::array kMethodArguments = {ArgumentRule{"method"}};
constexpr std::array kFallbackBlocks = {BlockRule{"fallback", {}, &kFallback}};
constexpr BodyRule kFallback = {kMethodArguments, kFallbackBlocks};
constexpr std::array kEnforceableArguments = {ArgumentRule{"method"}, ArgumentRule{"enforced"}};
constexpr BodyRule kEnforceable = {kEnforceableArguments, kFallbackBlocks};
constexpr std::array kRemoteStateBlocks = {
    BlockRule{"default", {}, &kFallback},
    BlockRule{"remote_state_data_source", {"name"}, &kFallback},
};
constexpr BodyRule kRemoteState = {{}, kRemoteStateBlocks};
constexpr std::array kEncryptionBlocks = {
    BlockRule{"key_provider", {"type", "name"}},
    BlockRule{"method", {"type", "name"}},
    BlockRule{"state", {}, &kEnforceable},
    BlockRule{"plan", {}, &kEnforceable},
    BlockRule{"remote_state_data_sources", {}, &kRemoteState},
};
constexpr BodyRule kEncryption = {{}, kEncryptionBlocks};

constexpr std::array kTerraformArguments = {
    ArgumentRule{"required_version"},
    ArgumentRule{"experiments"},
    ArgumentRule{"language"},
};
constexpr std::array kTerraformBlocks = {
    BlockRule{"backend", {"type"}},
    BlockRule{"cloud"},
    BlockRule{"required_providers", {}, &kJustArguments},
    BlockRule{"provider_meta", {"provider"}, &kJustArguments},
    BlockRule{"encryption", {}, &kEncryption, SupportedBy::by_opentofu},
};
constexpr BodyRule kTerraform = {kTerraformArguments, kTerraformBlocks};

constexpr std::array kLanguageArguments = {ArgumentRule{"edition"}, ArgumentRule{"experiments"}};
constexpr std::array kLanguageBlocks = {BlockRule{"compatible_with"}};
constexpr BodyRule kLanguage = {kLanguageArguments, kLanguageBlocks};

constexpr std::array kProviderBlocks = {BlockRule{"_"}, BlockRule{"lifecycle"}, BlockRule{"locals"}};
constexpr BodyRule kProvider = {.blocks = kProviderBlocks, .others = ExtraArguments::all};

constexpr std::array kCheckRuleArguments = {ArgumentRule{"condition", true}, ArgumentRule{"error_message", true}};
constexpr BodyRule kCheckRule = {.arguments = kCheckRuleArguments};

constexpr std::array kVariableArguments = {
    ArgumentRule{"description"},
    ArgumentRule{"default"},
    ArgumentRule{"type"},
    ArgumentRule{"sensitive"},
    ArgumentRule{"ephemeral"},
    ArgumentRule{"const", false, SupportedBy::by_opentofu},
    ArgumentRule{"deprecated", false, SupportedBy::by_opentofu},
    ArgumentRule{"nullable"},
};
constexpr std::array kVariableBlocks = {BlockRule{"validation", {}, &kCheckRule}};
constexpr BodyRule kVariable = {kVariableArguments, kVariableBlocks};

constexpr std::array kOutputArguments = {
    ArgumentRule{"description"}, ArgumentRule{"value", true},
    ArgumentRule{"depends_on"},  ArgumentRule{"sensitive"},
    ArgumentRule{"ephemeral"},   ArgumentRule{"deprecated", false, SupportedBy::by_opentofu},
};
constexpr std::array kConditionBlocks = {
    BlockRule{"precondition", {}, &kCheckRule},
    BlockRule{"postcondition", {}, &kCheckRule},
};
constexpr BodyRule kOutput = {kOutputArguments, kConditionBlocks};

// `source` is required too, but an override file may give it; the reader of module calls tells.
constexpr std::array kModuleLifecycleArguments = {ArgumentRule{"enabled"}};
constexpr BodyRule kModuleLifecycle = {.arguments = kModuleLifecycleArguments};
constexpr std::array kModuleBlocks = {
    BlockRule{"_"},
    BlockRule{"lifecycle", {}, &kModuleLifecycle, SupportedBy::by_opentofu},
    BlockRule{"lifecycle", {}, nullptr, SupportedBy::by_terraform},
    BlockRule{"locals"},
    BlockRule{"provider", {"type"}},
};
constexpr BodyRule kModule = {.blocks = kModuleBlocks, .others = ExtraArguments::all};

constexpr std::array kProvisionerBlocks = {BlockRule{"_"}, BlockRule{"connection"}, BlockRule{"lifecycle"}};
constexpr BodyRule kProvisioner = {.blocks = kProvisionerBlocks, .others = ExtraArguments::all};

constexpr std::array kLifecycleArguments = {
    ArgumentRule{"create_before_destroy"},
    ArgumentRule{"prevent_destroy"},
    ArgumentRule{"destroy", false, SupportedBy::by_opentofu},
    ArgumentRule{"ignore_changes"},
    ArgumentRule{"replace_triggered_by"},
    ArgumentRule{"enabled", false, SupportedBy::by_opentofu},
};
constexpr BodyRule kLifecycle = {kLifecycleArguments, kConditionBlocks};
constexpr std::array kResourceBlocks = {
    BlockRule{"locals"},     BlockRule{"lifecycle", {}, &kLifecycle},
    BlockRule{"connection"}, BlockRule{"provisioner", {"type"}, &kProvisioner},
    BlockRule{"_"},
};
constexpr BodyRule kResource = {.blocks = kResourceBlocks, .others = ExtraArguments::all};
constexpr std::array kDataBlocks = {BlockRule{"lifecycle", {}, &kLifecycle}, BlockRule{"locals"}, BlockRule{"_"}};
constexpr BodyRule kData = {.blocks = kDataBlocks, .others = ExtraArguments::all};

constexpr std::array kCheckBlocks = {
    BlockRule{"data", {"type", "name"}, &kData},
    BlockRule{"assert", {}, &kCheckRule},
};
constexpr BodyRule kCheck = {{}, kCheckBlocks};

constexpr std::array kMovedArguments = {ArgumentRule{"from", true}, ArgumentRule{"to", true}};
constexpr BodyRule kMoved = {.arguments = kMovedArguments};

constexpr std::array kImportArguments = {
    ArgumentRule{"provider"}, ArgumentRule{"id"},       ArgumentRule{"identity", false, SupportedBy::by_opentofu},
    ArgumentRule{"to", true}, ArgumentRule{"for_each"},
};
constexpr BodyRule kImport = {.arguments = kImportArguments};

constexpr std::array kRemovedLifecycleArguments = {ArgumentRule{"destroy"}};
constexpr BodyRule kRemovedLifecycle = {.arguments = kRemovedLifecycleArguments};
constexpr std::array kRemovedArguments = {ArgumentRule{"from", true}};
constexpr std::array kRemovedBlocks = {
    BlockRule{"lifecycle", {}, &kRemovedLifecycle},
    BlockRule{"connection", {}, nullptr, SupportedBy::by_terraform},
    BlockRule{"provisioner", {"type"}, &kProvisioner},
};
constexpr BodyRule kRemoved = {kRemovedArguments, kRemovedBlocks};

constexpr std::array kModuleFileBlocks = {
    BlockRule{"language", {}, &kLanguage, SupportedBy::by_opentofu},
    BlockRule{"required_providers"},
    BlockRule{"provider", {"name"}, &kProvider},
    BlockRule{"variable", {"name"}, &kVariable},
    BlockRule{"locals", {}, &kJustArguments},
    BlockRule{"output", {"name"}, &kOutput},
    BlockRule{"module", {"name"}, &kModule},
    BlockRule{"resource", {"type", "name"}, &kResource},
    BlockRule{"data", {"type", "name"}, &kData},
    BlockRule{"ephemeral", {"type", "name"}, &kResource},
    BlockRule{"moved", {}, &kMoved},
    BlockRule{"import", {}, &kImport},
    BlockRule{"check", {"name"}, &kCheck},
    BlockRule{"removed", {}, &kRemoved},
    BlockRule{"terraform", {}, &kTerraform},
};
constexpr BodyRule kModuleFile = {{}, kModuleFileBlocks};

}  // namespace

const BodyRule& module_file_rule() {
  return kModuleFile;
}

}  // namespace modlock
