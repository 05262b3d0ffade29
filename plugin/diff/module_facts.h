#pragma once

#include <string>
#include <vector>

#include "plugin/diff/meaning.h"
#include "protocol/base/error.h"

namespace modlock {

// What a fact is about. The rules of package_diff.cpp compare facts of one kind.
enum class FactKind {
  variable,
  variable_required,
  variable_type,
  variable_sensitive,
  variable_nullable,
  variable_default,
  variable_validation,
  output,
  output_sensitive,
  provider,
  provider_constraint,
  provider_configuration,
  provider_meta,
  core_version,
  module_call,
  module_source,
  computed_source,
  provisioner,
  connection,
  code_data,
  secret_data,
  data_source,
  ephemeral,
  code_resource,
  access_resource,
  outside_path,
  provider_function,
  nonsensitive,
  address,
  open_network,
  public_access,
  removed,
  import,
  resource,
  resource_type,
  prevent_destroy,
  order,
  condition,
  check,
  unreadable,
  unknown_block,
};

// Something that a package declares or does.
struct Fact {
  FactKind kind;
  std::string name;              // unique in its kind
  std::string value = {};        // different if the meaning is different
  std::string shown = {};        // for people
  Location location = {};        // in the package
  std::string subject = {};      // the block: "modules/db: aws_db_instance.a"
  std::string plain_value = {};  // without the content of files
  NamedFiles files = {};         // that the value depends on
};

// Returns the facts of all modules of a package. Errors: those of Context::check().
Result<std::vector<Fact>> collect_facts(const PackageText& package, MeaningReader meanings, const Context& context);

}  // namespace modlock
