#include "plugin/diff/package_diff.h"

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <map>
#include <stop_token>

#include "plugin/diff/module_facts.h"
#include "tests/support/temporary_directory.h"

using namespace modlock;
using namespace modlock::test;

namespace fs = std::filesystem;

BOOST_AUTO_TEST_SUITE(package_diff)

namespace {

using Files = std::map<std::string, std::string>;

struct Packages {
  TemporaryDirectory directory;

  PackagePlace write(const std::string& name, const Files& files, const std::string& below = "") const {
    fs::create_directories(directory / name);
    for (const auto& [path, text] : files) {
      directory.write(name + "/" + path, text);
    }
    return {directory / name, below};
  }
};

// A line for each: "risky provisioner main.tf:2 the provisioner … was added".
std::string lines_of(const std::vector<messages::DiffFinding>& findings) {
  std::string text;
  for (const messages::DiffFinding& finding : findings) {
    const auto& place = finding.call ? finding.call : finding.after ? finding.after : finding.before;
    text += fmt::format("{} {} {}:{} {}\n", finding.grade, finding.rule, place->path,
                        place->range ? place->range->start.line : 0, finding.message);
  }
  return text;
}

messages::ModuleDiff diff(const Files& before, const Files& after, const CallUse* use = nullptr,
                          const std::string& below = "") {
  const Packages packages;
  auto result = diff_packages(packages.write("before", before, below), packages.write("after", after, below), use,
                              ClientKind::opentofu, {});
  BOOST_REQUIRE(result);
  return std::move(*result);
}

struct Row {
  const char* name;
  Files before;
  Files after;
  const char* findings;
};

void check(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(lines_of(diff(row.before, row.after).findings) == row.findings);
    }
  }
}

constexpr const char* kRun =
    "resource \"null_resource\" \"a\" {\n  provisioner \"local-exec\" {\n    command = \"id\"\n  }\n}\n";

}  // namespace

BOOST_AUTO_TEST_CASE(what_is_risky) {
  const auto object = [](const std::string& source) {
    return fmt::format("resource \"aws_s3_object\" \"a\" {{\n  source = {}\n}}\n", source);
  };
  const std::string exec = "resource \"null_resource\" \"a\" {\n  provisioner \"local-exec\" {\n    command = ";
  const std::string end = "\n  }\n}\n";
  check({
      {"a provisioner",
       {{"main.tf", "resource \"null_resource\" \"a\" {\n}\n"}},
       {{"main.tf", kRun}},
       "risky provisioner main.tf:2 the provisioner null_resource.a local-exec was added\n"},
      {"a provisioner in JSON syntax",
       {{"main.tf", ""}},
       {{"x.tf.json", R"({"resource":{"null_resource":{"a":{"provisioner":[{"local-exec":{"command":"id"}}]}}}})"}},
       "risky provider-added x.tf.json:1 provider registry.opentofu.org/hashicorp/null is new: it runs at plan and "
       "apply\n"
       "risky provisioner x.tf.json:1 the provisioner null_resource.a local-exec was added\n"},
      {"a provisioner in an override file",
       {{"main.tf", "resource \"null_resource\" \"a\" {\n}\n"}},
       {{"main.tf", "resource \"null_resource\" \"a\" {\n}\n"}, {"a_override.tf", kRun}},
       "risky provisioner a_override.tf:2 the provisioner null_resource.a local-exec was added\n"},
      {"a local value of a provisioner",
       {{"main.tf", exec + "local.x" + end + "locals {\n  x = \"id\"\n}\n"}},
       {{"main.tf", exec + "local.x" + end + "locals {\n  x = base64decode(\"aWQ=\")\n}\n"}},
       "risky effective-change main.tf:7 local.x: \"id\" -> base64decode(\"aWQ=\"); used by null_resource.a\n"},
      {"the default of a variable of a provisioner",
       {{"main.tf", exec + "var.x" + end + "variable \"x\" {\n  default = \"id\"\n}\n"}},
       {{"main.tf", exec + "var.x" + end + "variable \"x\" {\n  default = \"w\"\n}\n"}},
       "risky effective-change main.tf:7 var.x default: \"id\" -> \"w\"; used by null_resource.a\n"
       "notable variable-default main.tf:7 the default of variable \"x\" changed from \"id\" to \"w\"\n"},
      {"the condition of a call of a module with a provisioner",
       {{"main.tf", "module \"m\" {\n  source = \"./m\"\n  count  = 0\n}\n"}, {"m/main.tf", kRun}},
       {{"main.tf", "module \"m\" {\n  source = \"./m\"\n  count  = 1\n}\n"}, {"m/main.tf", kRun}},
       "risky effective-change main.tf:3 module.m count: 0 -> 1\n"},
      {"the argument of a call of a module with a provisioner",
       {{"main.tf", "module \"m\" {\n  source = \"./m\"\n  x      = \"id\"\n}\n"},
        {"m/main.tf", exec + "var.x" + end + "variable \"x\" {}\n"}},
       {{"main.tf", "module \"m\" {\n  source = \"./m\"\n  x      = \"w\"\n}\n"},
        {"m/main.tf", exec + "var.x" + end + "variable \"x\" {}\n"}},
       "risky effective-change main.tf:3 module.m x: \"id\" -> \"w\"\n"},
      {"a file that a provisioner names",
       {{"main.tf", exec + "\"python ${path.module}/x.txt\"" + end}, {"x.txt", "a"}},
       {{"main.tf", exec + "\"python ${path.module}/x.txt\"" + end}, {"x.txt", "b"}},
       "risky provisioner main.tf:2 the provisioner null_resource.a local-exec was changed\n"},
      {"a file in a directory that a provisioner names",
       {{"main.tf", exec + "\"cp -r ${path.module}/conf /etc\"" + end}, {"conf/a/sudoers", "a"}},
       {{"main.tf", exec + "\"cp -r ${path.module}/conf /etc\"" + end}, {"conf/a/sudoers", "b"}},
       "risky provisioner main.tf:2 the provisioner null_resource.a local-exec was changed\n"},
      {"a file that a resource names",
       {{"main.tf", object("\"${path.module}/a.json\"")}, {"a.json", "a"}},
       {{"main.tf", object("\"${path.module}/a.json\"")}, {"a.json", "b"}},
       "risky effective-change main.tf:2 aws_s3_object.a source: \"${path.module}/a.json\", with other content of "
       "a.json\n"},
      {"a file that a local value names for a resource",
       {{"main.tf", object("local.a") + "locals {\n  a = \"${path.module}/a.json\"\n}\n"}, {"a.json", "a"}},
       {{"main.tf", object("local.a") + "locals {\n  a = \"${path.module}/a.json\"\n}\n"}, {"a.json", "b"}},
       "risky effective-change main.tf:5 local.a: \"${path.module}/a.json\", with other content of a.json; used by "
       "aws_s3_object.a\n"},
      {"a directory that a resource names up to a variable",
       {{"main.tf", object("\"${path.module}/conf/${terraform.workspace}.json\"")}, {"conf/a.json", "a"}},
       {{"main.tf", object("\"${path.module}/conf/${terraform.workspace}.json\"")}, {"conf/a.json", "b"}},
       "risky effective-change main.tf:2 aws_s3_object.a source: \"${path.module}/conf/${terraform.workspace}.json\", "
       "with other content of conf/a.json\n"},
      {"a call of another module that is called already",
       {{"main.tf",
         "module \"m\" {\n  source = \"./a\"\n}\nmodule \"n\" {\n  source = \"./b\"\n}\nmodule \"o\" {\n  source = "
         "\"./a\"\n}\n"},
        {"a/main.tf", "# a\n"},
        {"b/main.tf", "# b\n"}},
       {{"main.tf",
         "module \"m\" {\n  source = \"./b\"\n}\nmodule \"n\" {\n  source = \"./b\"\n}\nmodule \"o\" {\n  source = "
         "\"./a\"\n}\n"},
        {"a/main.tf", "# a\n"},
        {"b/main.tf", "# b\n"}},
       "risky module-source main.tf:1 module.m calls ./b instead of ./a\n"},
      {"another open port",
       {{"main.tf",
         "resource \"aws_security_group\" \"a\" {\n  egress {\n    cidr_blocks = [\"0.0.0.0/0\"]\n  }\n}\n"}},
       {{"main.tf",
         "resource \"aws_security_group\" \"a\" {\n}\nresource \"aws_security_group_rule\" \"ssh\" {\n  from_port   = "
         "22\n  cidr_blocks = [\"0.0.0.0/0\"]\n}\n"}},
       "risky effective-change main.tf:1 aws_security_group.a egress.cidr_blocks: [\"0.0.0.0/0\"] -> none\n"
       "risky new-resource main.tf:3 aws_security_group_rule.ssh is new, and exists although the caller sets nothing "
       "new\n"
       "risky open-network main.tf:5 it names every address: aws_security_group_rule.ssh 0.0.0.0/0\n"},
      {"a trigger",
       {{"main.tf",
         "resource \"terraform_data\" \"a\" {\n  triggers_replace = 1\n  provisioner \"remote-exec\" {\n    "
         "inline = [\"id\"]\n  }\n}\n"}},
       {{"main.tf",
         "resource \"terraform_data\" \"a\" {\n  triggers_replace = timestamp()\n  provisioner "
         "\"remote-exec\" {\n    inline = [\"id\"]\n  }\n}\n"}},
       "risky effective-change main.tf:2 terraform_data.a triggers_replace: 1 -> timestamp()\n"},
      {"a data source in a check",
       {{"main.tf", ""}},
       {{"main.tf", "check \"c\" {\n  data \"http\" \"x\" {\n    url = \"https://evil.example/${var.a}\"\n  }\n}\n"}},
       "risky provider-added main.tf:2 provider registry.opentofu.org/hashicorp/http is new: it runs at plan and "
       "apply\n"
       "risky data-source main.tf:2 check.c: data.http.x, which runs a program, sends a request, or reads a file or a "
       "state, was added\n"
       "risky address main.tf:3 it names evil.example, which is new\n"},
      {"the program of a data source",
       {{"main.tf", "data \"external\" \"x\" {\n  program = [\"a\"]\n}\n"}},
       {{"main.tf", "data \"external\" \"x\" {\n  program = [\"b\"]\n}\n"}},
       "risky data-source main.tf:1 data.external.x, which runs a program, sends a request, or reads a file or a "
       "state, was changed\n"
       "risky effective-change main.tf:2 data.external.x program: [\"a\"] -> [\"b\"]\n"},
      {"user data in a template",
       {{"main.tf", "resource \"aws_instance\" \"a\" {\n  user_data = templatefile(\"${path.module}/u.tpl\", {})\n}\n"},
        {"u.tpl", "a"}},
       {{"main.tf", "resource \"aws_instance\" \"a\" {\n  user_data = templatefile(\"${path.module}/u.tpl\", {})\n}\n"},
        {"u.tpl", "b"}},
       "risky effective-change main.tf:2 aws_instance.a user_data: templatefile(\"${path.module}/u.tpl\", {}), with "
       "other content of u.tpl\n"},
      {"a start script in metadata",
       {{"main.tf", "resource \"google_compute_instance\" \"a\" {\n  metadata = {}\n}\n"}},
       {{"main.tf",
         "resource \"google_compute_instance\" \"a\" {\n  metadata = {\n    startup-script = \"id\"\n  "
         "}\n}\n"}},
       "risky effective-change main.tf:2 google_compute_instance.a metadata: {} -> { startup-script = \"id\" }\n"},
      {"a module from elsewhere",
       {{"main.tf", ""}},
       {{"main.tf", "module \"x\" {\n  source = \"git::https://git.example.net/x.git?ref=v1\"\n}\n"}},
       "risky module-source main.tf:2 it calls a module from git::https://git.example.net/x.git, which is new\n"
       "risky address main.tf:2 it names git.example.net, which is new\n"},
      {"a provider configuration",
       {{"main.tf", "provider \"aws\" {\n  region = \"a\"\n}\n"}},
       {{"main.tf", "provider \"aws\" {\n  region = \"a\"\n  endpoints {\n    s3 = \"x\"\n  }\n}\n"}},
       "risky provider-configuration main.tf:1 the configuration provider.aws was changed: it may send requests to "
       "another place\n"},
      {"a path outside",
       {{"main.tf", "locals {\n  a = file(\"${path.module}/a\")\n}\n"}},
       {{"main.tf", "locals {\n  a = file(\"/etc/passwd\")\n}\n"}},
       "risky outside-path main.tf:2 it reads outside of the module: file(\"/etc/passwd\")\n"},
      {"a path outside that a local value has",
       {{"main.tf", "locals {\n  dir = path.root\n  b   = 1\n}\n"}},
       {{"main.tf", "locals {\n  dir = path.root\n  b   = file(format(local.dir))\n}\n"}},
       "risky outside-path main.tf:3 it reads outside of the module: file(format(local.dir))\n"},
      {"a new local value that reads files of a known one, which is empty",
       {{"main.tf", object("\"x\"") + "locals {\n  known = []\n}\n"}},
       {{"main.tf",
         "resource \"aws_s3_object\" \"a\" {\n  acl    = local.known\n  source = local.a\n}\nlocals {\n  known = "
         "[]\n  dir   = \"conf\"\n  a     = [for x in local.known : file(\"${local.dir}/${x}\")]\n}\n"}},
       "risky effective-change main.tf:3 aws_s3_object.a source: \"x\" -> local.a\n"},
      {"a file of a computed name that a provisioner reads",
       {{"main.tf", exec + "file(\"${path.module}/conf/${terraform.workspace}.sh\")" + end}, {"conf/a.sh", "a"}},
       {{"main.tf", exec + "file(\"${path.module}/conf/${terraform.workspace}.sh\")" + end}, {"conf/a.sh", "b"}},
       "risky script conf/a.sh:0 the script or binary conf/a.sh was changed; used by null_resource.a\n"},
      {"a file that the caller of a local module names",
       {{"main.tf", "module \"m\" {\n  source = \"./m\"\n  x      = \"run.txt\"\n}\n"},
        {"m/main.tf", exec + "\"sh ${path.module}/${var.x}\"" + end + "variable \"x\" {}\n"},
        {"m/run.txt", "a"}},
       {{"main.tf", "module \"m\" {\n  source = \"./m\"\n  x      = \"run.txt\"\n}\n"},
        {"m/main.tf", exec + "\"sh ${path.module}/${var.x}\"" + end + "variable \"x\" {}\n"},
        {"m/run.txt", "b"}},
       "risky provisioner m/main.tf:2 the provisioner m: null_resource.a local-exec was changed\n"},
      {"a file that an output of a local module names",
       {{"main.tf", exec + "\"sh ${module.m.x}\"" + end + "module \"m\" {\n  source = \"./m\"\n}\n"},
        {"m/main.tf", "output \"x\" {\n  value = \"${path.module}/run.txt\"\n}\n"},
        {"m/run.txt", "a"}},
       {{"main.tf", exec + "\"sh ${module.m.x}\"" + end + "module \"m\" {\n  source = \"./m\"\n}\n"},
        {"m/main.tf", "output \"x\" {\n  value = \"${path.module}/run.txt\"\n}\n"},
        {"m/run.txt", "b"}},
       "risky effective-change m/main.tf:2 m: output.x: \"${path.module}/run.txt\", with other content of m/run.txt\n"},
      {"a data source and a resource that pass values on to a provisioner",
       {{"main.tf", exec + "terraform_data.a.output" + end +
                        "resource \"terraform_data\" \"a\" {\n  input = data.null_data_source.a.outputs\n}\n" +
                        "data \"null_data_source\" \"a\" {\n  inputs = { a = \"id\" }\n}\n"}},
       {{"main.tf", exec + "terraform_data.a.output" + end +
                        "resource \"terraform_data\" \"a\" {\n  input = data.null_data_source.a.outputs\n}\n" +
                        "data \"null_data_source\" \"a\" {\n  inputs = { a = \"w\" }\n}\n"}},
       "risky effective-change main.tf:10 data.null_data_source.a inputs: { a = \"id\" } -> { a = \"w\" }\n"},
      {"a script that is executable now",
       {{"a.sh", "id"}},
       {{"a.sh", "id 2"}},
       "risky script a.sh:0 the script or binary a.sh was changed\n"},
      {"a binary",
       {{"main.tf", ""}},
       {{"main.tf", ""},
        {"lib/x",
         "\x7f"
         "ELF"}},
       "risky script lib/x:0 the script or binary lib/x was added\n"},
      {"a file that cannot be read",
       {{"main.tf", ""}},
       {{"main.tf", "resource {{{"}},
       "risky unreadable main.tf:0 main.tf cannot be read completely\n"},
      {"a removed block",
       {{"main.tf", ""}},
       {{"main.tf", "removed {\n  from = aws_vpc.a\n}\n"}},
       "risky removed-block main.tf:1 a removed block for aws_vpc.a was added\n"},
      {"an output that shows a secret",
       {{"main.tf", "output \"a\" {\n  value     = 1\n  sensitive = true\n}\n"}},
       {{"main.tf", "output \"a\" {\n  value = nonsensitive(1)\n}\n"}},
       "risky sensitive-removed main.tf:1 output \"a\" is no longer sensitive: its value may be printed\n"
       "notable nonsensitive main.tf:2 it shows a sensitive value: nonsensitive(1)\n"},
      {"an account",
       {{"main.tf", ""}},
       {{"main.tf",
         "resource \"aws_iam_role\" \"a\" {\n  assume_role_policy = jsonencode({ Principal = { AWS = "
         "\"arn:aws:iam::123456789012:root\" } })\n}\n"}},
       "risky provider-added main.tf:1 provider registry.opentofu.org/hashicorp/aws is new: it runs at plan and "
       "apply\n"
       "risky new-resource main.tf:1 aws_iam_role.a is new, and exists although the caller sets nothing "
       "new\n"
       "risky address main.tf:2 it names account 123456789012, which is new\n"},
  });
}

BOOST_AUTO_TEST_CASE(files_beside_a_provisioner_that_names_the_module) {
  const auto provisioner = [](const std::string& body) {
    return "resource \"null_resource\" \"a\" {\n  provisioner \"local-exec\" {\n" + body + "\n  }\n}\n";
  };
  for (const char* body : {
           "    command = \"make -C ${path.module}\"",
           "    command = \"cd ${path.module}/ && make\"",
           "    command = \"make -C ${path.module}/.\"",
           "    command = \"cd ${abspath(path.module)} && make\"",
           "    command = \"make\"\n    working_dir = path.module",
           "    command = \"make\"\n    working_dir = \"${path.module}/\"",
           "    command = \"cd $D && make\"\n    environment = { D = path.module }",
       }) {
    const std::string text = provisioner(body);
    check({{body,
            {{"main.tf", text}, {"Makefile", "a"}},
            {{"main.tf", text}, {"Makefile", "b"}},
            "risky provisioner main.tf:2 the provisioner null_resource.a local-exec was changed\n"},
           {"files without an effect",
            {{"main.tf", text}, {"LICENSE", "a"}, {"README.md", "a"}, {".gitignore", "a"}},
            {{"main.tf", text}, {"LICENSE", "b"}, {"README.md", "b"}, {".gitignore", "b"}},
            ""}});
  }
  const std::string script = provisioner("    command = \"cat ${path.module}/x.txt\"");
  check({{"a path below the directory",
          {{"main.tf", script}, {"Makefile", "a"}, {"x.txt", ""}},
          {{"main.tf", script}, {"Makefile", "b"}, {"x.txt", ""}},
          ""}});
}

BOOST_AUTO_TEST_CASE(scripts_of_examples_that_a_module_names) {
  const struct {
    const char* name;
    const char* config;
    const char* file;
    const char* grade;
  } rows[] = {
      {"its path", "locals {\n  a = \"${path.module}/examples/run.sh\"\n}\n", "run.sh", "risky"},
      {"after an escaped line end", "locals {\n  a = \"cd x\\nrun.sh\"\n}\n", "run.sh", "risky"},
      {"at the end of a sentence", "# see run.sh.\n", "run.sh", "risky"},
      {"a name with blanks", "locals {\n  a = \"'run it.sh'\"\n}\n", "run it.sh", "risky"},
      {"a part of a name with blanks", "locals {\n  a = \"run\"\n}\n", "run it.sh", "notable"},
      {"a longer name", "locals {\n  a = \"rerun.sh\"\n}\n", "run.sh", "notable"},
      {"no configuration", "", "run.sh", "notable"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto result =
          diff({{"main.tf", row.config}}, {{"main.tf", row.config}, {std::string("examples/") + row.file, "id"}});
      BOOST_TEST(
          lines_of(result.findings) ==
          fmt::format("{0} script examples/{1}:0 the script or binary examples/{1} was added\n", row.grade, row.file));
    }
  }
}

BOOST_AUTO_TEST_CASE(scripts_of_examples_that_are_called) {
  const std::string call = "module \"m\" {\n  source = \"./examples/m\"\n}\n";
  check({
      {"a called one",
       {{"main.tf", call}, {"examples/m/main.tf", ""}, {"examples/m/linux.sh", "a"}},
       {{"main.tf", call}, {"examples/m/main.tf", ""}, {"examples/m/linux.sh", "b"}},
       "risky script examples/m/linux.sh:0 the script or binary examples/m/linux.sh was changed\n"},
      {"another one",
       {{"main.tf", call}, {"examples/m/main.tf", ""}, {"examples/n/linux.sh", "a"}},
       {{"main.tf", call}, {"examples/m/main.tf", ""}, {"examples/n/linux.sh", "b"}},
       "notable script examples/n/linux.sh:0 the script or binary examples/n/linux.sh was changed\n"},
  });
}

BOOST_AUTO_TEST_CASE(one_cause_has_one_finding) {
  const std::string provisioner =
      "resource \"null_resource\" \"a\" {\n  provisioner \"local-exec\" {\n    command = \"sh "
      "${path.module}/run.sh\"\n  "
      "}\n}\n";
  const std::string users = provisioner +
                            "resource \"aws_instance\" \"b\" {\n  user_data = file(\"${path.module}/run.sh\")\n}\n"
                            "resource \"aws_s3_object\" \"c\" {\n  source = \"${path.module}/run.sh\"\n}\n"
                            "data \"external\" \"d\" {\n  program = [\"${path.module}/run.sh\"]\n}\n";
  const std::string one_more = "resource \"aws_instance\" \"e\" {\n  user_data = file(\"${path.module}/run.sh\")\n}\n";
  const std::string changed = "risky script run.sh:0 the script or binary run.sh was changed";
  const std::string test_user =
      "resource \"aws_instance\" \"f\" {\n  user_data = file(\"${path.module}/test/${var.x}\")\n}\n";
  const std::string template_users =
      "resource \"aws_instance\" \"a\" {\n  user_data = file(\"${path.module}/t.tpl\")\n}\n"
      "resource \"aws_instance\" \"b\" {\n  user_data = file(\"${path.module}/t.tpl\")\n}\n";
  const std::string import = "import {\n  to = aws_x.y\n  id = file(\"${path.module}/t.tpl\")\n}\n";
  const auto constraints = [](const std::string& version) {
    const std::string text =
        "terraform {\n  required_providers {\n    aws = {\n      version = \"" + version + "\"\n    }\n  }\n}\n";
    return Files{{"main.tf", "module \"a\" {\n  source = \"./a\"\n}\nmodule \"b\" {\n  source = \"./b\"\n}\n" + text},
                 {"a/main.tf", text},
                 {"b/main.tf", text}};
  };
  const auto with = [](const std::string& text, const char* name, const char* content) {
    return Files{{"main.tf", text}, {name, content}};
  };
  const std::string used = changed + "; used by aws_instance.b, aws_s3_object.c, data.external.d, null_resource.a\n";
  const std::string more =
      changed + "; used by aws_instance.b, aws_instance.e, aws_s3_object.c, data.external.d, 1 more\n";
  const std::string both =
      "risky provisioner main.tf:2 the provisioner null_resource.a local-exec was changed\n" + changed + "\n";
  check({
      {"a script with users", with(users, "run.sh", "a"), with(users, "run.sh", "b"), used.c_str()},
      {"a script with many users", with(users + one_more, "run.sh", "a"), with(users + one_more, "run.sh", "b"),
       more.c_str()},
      {"a script of the tests with a user", with(test_user, "test/a.sh", "a"), with(test_user, "test/a.sh", "b"),
       "risky script test/a.sh:0 the script or binary test/a.sh was changed; used by aws_instance.f\n"},
      {"a script, and its command", with(provisioner, "run.sh", "a"),
       with("resource \"null_resource\" \"a\" {\n  provisioner \"local-exec\" {\n    command = \"bash "
            "${path.module}/run.sh\"\n  }\n}\n",
            "run.sh", "b"),
       both.c_str()},
      {"a template of two resources", with(template_users, "t.tpl", "a"), with(template_users, "t.tpl", "b"),
       "risky effective-change main.tf:2 aws_instance.a user_data: file(\"${path.module}/t.tpl\"), with other content "
       "of "
       "t.tpl; also in aws_instance.b\n"},
      {"a template of an import and a resource", with(import + template_users, "t.tpl", "a"),
       with(import + template_users, "t.tpl", "b"),
       "risky import-block main.tf:1 an import block for aws_x.y was changed; also in aws_instance.a, "
       "aws_instance.b\n"},
      {"a constraint of many modules", constraints(">= 5.0"), constraints(">= 6.0"),
       "notable provider-constraint a/main.tf:4 the constraint of provider registry.opentofu.org/hashicorp/aws changed "
       "from >= 5.0 to >= 6.0; also in b/main.tf, main.tf\n"},
  });
}

BOOST_AUTO_TEST_CASE(what_is_no_finding) {
  const std::string call = "module \"m\" {\n  source = \"./m\"\n}\n";
  const std::string names =
      "resource \"null_resource\" \"a\" {\n  provisioner \"local-exec\" {\n    command = \"m\"\n  }\n}\n";
  const std::string plain = "resource \"aws_vpc\" \"a\" {\n  cidr = local.x\n}\n\nlocals {\n  x = \"10.0.0.0/16\"\n}\n";
  check({
      {"an output that is only a version number",
       {{"main.tf", "output \"version\" {\n  value = \"v1.0.0\"\n}\n"}},
       {{"main.tf", "output \"version\" {\n  value = \"v1.1.0\"\n}\n"}},
       ""},
      {"a comment, a blank, and the order of arguments",
       {{"main.tf",
         "resource \"null_resource\" \"a\" {\n  count = 1\n  provisioner \"local-exec\" {\n    command = "
         "\"id\"\n    when = create\n  }\n}\n"}},
       {{"main.tf",
         "# new\nresource \"null_resource\" \"a\" {\n\n  provisioner \"local-exec\" {\n    when    = create "
         "# now\n    command = (\"id\")\n  }\n  count = 1\n}\n"}},
       ""},
      {"a local value with another name",
       {{"main.tf",
         "resource \"null_resource\" \"a\" {\n  provisioner \"local-exec\" {\n    command = local.a\n  "
         "}\n}\nlocals {\n  a = \"id\"\n}\n"}},
       {{"main.tf",
         "resource \"null_resource\" \"a\" {\n  provisioner \"local-exec\" {\n    command = local.b\n  "
         "}\n}\nlocals {\n  b = \"id\"\n}\n"}},
       ""},
      {"an expression that is a local value now",
       {{"main.tf", "data \"http\" \"a\" {\n  url = lower(concat(aws_vpc.a[*].id, [\"\"])[0])\n}\n"}},
       {{"main.tf",
         "data \"http\" \"a\" {\n  url = lower(local.a)\n}\nlocals {\n  a = concat(aws_vpc.a[*].id, [\"\"])[0]\n}\n"}},
       ""},
      {"a branch that is never used",
       {{"main.tf", "data \"http\" \"a\" {\n  url = false ? \"a\" : \"c\"\n}\n"}},
       {{"main.tf", "data \"http\" \"a\" {\n  url = false ? \"b\" : \"c\"\n}\n"}},
       ""},
      {"a resource with another name",
       {{"main.tf", kRun}},
       {{"main.tf",
         "moved {\n  from = null_resource.a\n  to   = null_resource.b\n}\nresource \"null_resource\" \"b\" "
         "{\n  provisioner \"local-exec\" {\n    command = \"id\"\n  }\n}\n"}},
       ""},
      {"a resource that is off",
       {{"main.tf", plain}},
       {{"main.tf",
         plain + "resource \"aws_subnet\" \"a\" {\n  count = var.n\n}\nvariable \"n\" {\n  default = 0\n}\n"}},
       ""},
      {"another file", {{"main.tf", plain}}, {{"other.tf", plain}}, ""},
      {"a description with an address",
       {{"main.tf", "variable \"a\" {\n  default = 1\n}\n"}},
       {{"main.tf", "variable \"a\" {\n  default     = 1\n  description = \"https://docs.example.net\"\n}\n"}},
       ""},
      {"a script in the tests",
       {{"main.tf", plain}},
       {{"main.tf", plain}, {"test/a.sh", "id"}},
       "notable script test/a.sh:0 the script or binary test/a.sh was added\n"},
      {"a script with another name", {{"a.sh", "id"}}, {{"b.sh", "id"}}, ""},
      {"a file in a directory of a module that a provisioner names",
       {{"main.tf", call + names}, {"m/main.tf", ""}, {"m/a.txt", "a"}},
       {{"main.tf", call + names}, {"m/main.tf", ""}, {"m/a.txt", "b"}},
       ""},
  });
}

BOOST_AUTO_TEST_CASE(resources_that_are_destroyed) {
  const std::string vpc = "resource \"aws_vpc\" \"a\" {\n  cidr = 1\n}\n";
  const std::string renamed = "resource \"aws_vpc\" \"b\" {\n  cidr = 1\n}\n";
  const auto moved = [](const std::string& from, const std::string& to) {
    return fmt::format("moved {{\n  from = {}\n  to   = {}\n}}\n", from, to);
  };
  const auto call = [](const std::string& name, const std::string& source) {
    return fmt::format("module \"{}\" {{\n  source = \"{}\"\n}}\n", name, source);
  };
  const std::string destroyed = " was removed without a moved block: apply destroys it\n";
  const std::string uncalled = " is no longer called: apply destroys its resources that no moved block names\n";
  const struct {
    const char* name;
    Files before;
    Files after;
    std::string finding;
  } rows[] = {
      {"a resource that is moved", {{"main.tf", vpc}}, {{"main.tf", moved("aws_vpc.a", "aws_vpc.b") + renamed}}, ""},
      {"a resource that is moved twice",
       {{"main.tf", vpc}},
       {{"main.tf", moved("aws_vpc.a", "aws_vpc.x") + moved("aws_vpc.x", "aws_vpc.b") + renamed}},
       ""},
      {"a resource that is moved to a module",
       {{"main.tf", vpc}},
       {{"main.tf", moved("aws_vpc.a", "module.m[\"x.y\"].aws_vpc.a") + call("m", "./m")}, {"m/main.tf", vpc}},
       ""},
      {"a resource that is moved to a module of another name",
       {{"main.tf", vpc}},
       {{"main.tf", moved("aws_vpc.a", "module.n.aws_vpc.a") + moved("module.n", "module.m") + call("m", "./m")},
        {"m/main.tf", vpc}},
       ""},
      {"an instance that is moved",
       {{"main.tf", vpc}},
       {{"main.tf", moved("aws_vpc.a[0]", "aws_vpc.b[\"x.y\"]") + renamed}},
       ""},
      {"one of two calls of a local module",
       {{"main.tf", call("m", "./m") + call("n", "./m")}, {"m/main.tf", vpc}},
       {{"main.tf", call("m", "./m")}, {"m/main.tf", vpc}},
       "module.n" + uncalled},
      {"the only call of a local module",
       {{"main.tf", call("m", "./m")}, {"m/main.tf", vpc}},
       {{"main.tf", ""}, {"m/main.tf", vpc}},
       "m: aws_vpc.a" + destroyed},
      {"a call of a local module in a local module",
       {{"main.tf", call("m", "./m")}, {"m/main.tf", call("a", "../n") + call("b", "../n")}, {"n/main.tf", vpc}},
       {{"main.tf", call("m", "./m")}, {"m/main.tf", call("a", "../n")}, {"n/main.tf", vpc}},
       "m: module.b" + uncalled},
      {"a call of another package", {{"main.tf", call("m", "a/b/c")}}, {{"main.tf", ""}}, "module.m" + uncalled},
      {"a call without instances",
       {{"main.tf", "module \"m\" {\n  source = \"a/b/c\"\n  count  = 0\n}\n"}},
       {{"main.tf", ""}},
       ""},
      {"a call that is moved",
       {{"main.tf", call("m", "a/b/c")}},
       {{"main.tf", moved("module.m[0]", "module.n") + call("n", "a/b/c")}},
       ""},
      {"a resource that is moved in JSON syntax",
       {{"main.tf", vpc}},
       {{"main.tf", renamed}, {"x.tf.json", R"({"moved":[{"from":"aws_vpc.a","to":"aws_vpc.b"}]})"}},
       ""},
      {"a resource that is moved to nothing",
       {{"main.tf", vpc}},
       {{"main.tf", moved("aws_vpc.a", "aws_vpc.x")}},
       "aws_vpc.a" + destroyed},
      {"resources that are moved in a circle",
       {{"main.tf", vpc}},
       {{"main.tf", moved("aws_vpc.a", "aws_vpc.x") + moved("aws_vpc.x", "aws_vpc.a")}},
       "aws_vpc.a" + destroyed},
      {"a resource that is moved to a module without it",
       {{"main.tf", vpc}},
       {{"main.tf", moved("aws_vpc.a", "module.m.aws_vpc.a") + call("m", "./m")}, {"m/main.tf", ""}},
       "aws_vpc.a" + destroyed},
      {"a module in another directory",
       {{"main.tf", call("m", "./m")}, {"m/main.tf", vpc}},
       {{"main.tf", call("m", "./modules/m")}, {"modules/m/main.tf", vpc}},
       ""},
      {"a module in another directory without the resource",
       {{"main.tf", call("m", "./m")}, {"m/main.tf", vpc}},
       {{"main.tf", call("m", "./modules/m")}, {"modules/m/main.tf", renamed}},
       "m: aws_vpc.a" + destroyed},
      {"a module in two other directories, one without the resource",
       {{"main.tf", call("m", "./m") + call("n", "./m")}, {"m/main.tf", vpc}},
       {{"main.tf", call("m", "./b") + call("n", "./c")}, {"b/main.tf", vpc}, {"c/main.tf", ""}},
       "m: aws_vpc.a" + destroyed},
      {"a resource without instances",
       {{"main.tf",
         "resource \"aws_vpc\" \"a\" {\n  count = 0\n}\nresource \"aws_vpc\" \"b\" {\n  for_each = toset([])\n}\n"}},
       {{"main.tf", ""}},
       ""},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      std::string found;
      for (const messages::DiffFinding& finding : diff(row.before, row.after).findings) {
        found += finding.rule == "resource-removed" || finding.rule == "module-removed" ? finding.message + "\n" : "";
      }
      BOOST_TEST(found == row.finding);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_breaks_a_caller) {
  const Files before = {{"main.tf", "variable \"a\" {\n  default = 1\n}\noutput \"o\" {\n  value = 1\n}\n"}};
  const Files after = {{"main.tf",
                        "variable \"b\" {}\nterraform {\n  required_providers {\n    aws = {\n      source = "
                        "\"hashicorp/aws\"\n      version = \">= 6.0\"\n    }\n  }\n}\n"}};
  const auto place = [](std::uint32_t line) { return Location{"root.tf", Range{{line, 1, 0}, {line, 2, 1}}}; };
  ProviderLocks locked;
  locked.emplace(*ProviderAddress::parse("hashicorp/aws", kOpenTofuRegistry),
                 ProviderLock{.version = *ProviderVersion::parse("5.1.0")});
  const std::string provider =
      "risky provider-added main.tf:4 provider registry.opentofu.org/hashicorp/aws is new: it runs at plan and apply\n";
  BOOST_TEST(lines_of(diff(before, after).findings) ==
             "breaking variable-removed main.tf:1 variable \"a\" was removed\n"
             "breaking variable-required main.tf:1 variable \"b\" has no default and must be set\n"
             "breaking output-removed main.tf:4 output \"o\" was removed\n" +
                 provider);
  const CallUse other{.call = place(1), .arguments = {{"b", place(2)}}};
  BOOST_TEST(lines_of(diff(before, after, &other).findings) ==
             provider +
                 "notable variable-removed main.tf:1 variable \"a\" was removed\n"
                 "notable output-removed main.tf:4 output \"o\" was removed\n");
  const CallUse use{
      .call = place(1), .arguments = {{"a", place(2)}}, .outputs = {{"o", place(9)}}, .providers = &locked};
  BOOST_TEST(lines_of(diff(before, after, &use).findings) ==
             "breaking variable-removed root.tf:2 variable \"a\" was removed; the call sets it\n"
             "breaking variable-required root.tf:1 variable \"b\" has no default and must be set; the call does not "
             "set it\n"
             "breaking output-removed root.tf:9 output \"o\" was removed; it is used here\n"
             "breaking provider-locked root.tf:1 it requires provider registry.opentofu.org/hashicorp/aws >= 6.0, and "
             "5.1.0 is locked\n" +
                 provider);
}

BOOST_AUTO_TEST_CASE(packages_of_any_size_are_compared) {
  const auto chain = [](const std::string& last) {
    std::string text = fmt::format("locals {{\n  a0 = \"{}\"\n", last);
    for (int i = 1; i < 20'000; ++i) {
      text += fmt::format("  a{} = local.a{}\n", i, i - 1);
    }
    return "resource \"null_resource\" \"a\" {\n  provisioner \"local-exec\" {\n    command = local.a19999\n  }\n}\n" +
           text + "}\n";
  };
  const auto nested = [](const std::string& inner) {
    std::string text = inner;
    for (int i = 0; i < 60; ++i) {
      text = "\"a${" + text + "}\"";
    }
    return "resource \"null_resource\" \"a\" {\n  provisioner \"local-exec\" {\n    command = " + text + "\n  }\n}\n";
  };
  // Each local value has its own text, and names the next one twice.
  const auto fan = [](const std::string& last) {
    std::string text;
    for (int i = 0; i < 5'000; ++i) {
      text += fmt::format("  a{0} = coalesce(local.a{1}, local.a{1}, \"{0}\")\n", i, i + 1);
    }
    return "resource \"aws_iam_role\" \"a\" {\n  policy = local.a0\n}\nlocals {\n" + text +
           "  a5000 = var.a\n}\nvariable \"a\" {\n  default = " + last + "\n}\n";
  };
  const auto wide = [](const std::string& last) {
    std::string text;
    for (int i = 0; i < 10; ++i) {
      text += fmt::format("  a{} = coalesce(", i);
      for (int j = 0; j < 20; ++j) {
        text += fmt::format("local.a{}, ", i + 1);
      }
      text += "null)\n";
    }
    return "resource \"aws_iam_role\" \"a\" {\n  policy = local.a0\n}\nlocals {\n" + text + "  a10 = " + last + "\n}\n";
  };
  // Each new local value has the next one twice.
  const auto doubled = [](const std::string& last) {
    std::string text = fmt::format("  a0 = {}\n", last);
    for (int i = 1; i < 5'000; ++i) {
      text += fmt::format("  a{0} = concat(local.a{1}, [\"${{local.a{1}}}\"], local.a{1})\n", i, i - 1);
    }
    return "resource \"aws_iam_role\" \"a\" {\n  policy = local.a4999\n}\nlocals {\n" + text + "}\n";
  };
  const auto joined = [](const std::string& last) {
    std::string text = "locals {\n  a0 = [";
    for (int i = 0; i < 20'000; ++i) {
      text += "1, ";
    }
    text += last + "]\n";
    for (int i = 1; i < 2'000; ++i) {
      text += fmt::format("  a{} = concat([\"x\"], local.a{})\n", i, i - 1);
    }
    return "resource \"null_resource\" \"a\" {\n  provisioner \"local-exec\" {\n    command = local.a1999[0]\n  "
           "}\n}\n" +
           text + "}\n";
  };
  std::string words;
  for (int i = 0; i < 4'000; ++i) {
    words += "b ";
  }
  const std::string run =
      "resource \"null_resource\" \"a\" {\n  provisioner \"local-exec\" {\n    command = \"" + words + "\"\n  }\n}\n";
  const char* const changed = "risky provisioner main.tf:2 the provisioner null_resource.a local-exec was changed\n";
  // All of them read the same file.
  const auto files = [](const std::string& last) {
    std::string text;
    for (int i = 0; i < 5'000; ++i) {
      text += "file(local.a), ";
    }
    return fmt::format("locals {{\n  a = \"x\"\n  b = [{}\"{}\"]\n}}\n", text, last);
  };
  const auto inner_files = [](const std::string& last) {
    std::string text = "\"" + last + "\"";
    for (int i = 0; i < 60; ++i) {
      text = "file(" + text + ")";
    }
    return fmt::format("locals {{\n  a = {}\n}}\n", text);
  };
  check({
      {"an expression that reads many files", {{"main.tf", files("a")}}, {{"main.tf", files("b")}}, ""},
      {"files whose names are in files", {{"main.tf", inner_files("a")}}, {{"main.tf", inner_files("b")}}, ""},
      {"chained local values",
       {{"main.tf", chain("id")}},
       {{"main.tf", chain("w")}},
       "risky effective-change main.tf:7 local.a0: \"id\" -> \"w\"; used by null_resource.a\n"},
      {"local values that name the next one twice",
       {{"main.tf", fan("null")}},
       {{"main.tf", fan("\"*\"")}},
       "risky effective-change main.tf:5008 var.a default: null -> \"*\"; used by aws_iam_role.a\n"
       "notable variable-default main.tf:5008 the default of variable \"a\" changed from null to \"*\"\n"},
      {"local values that name the next one twenty times",
       {{"main.tf", wide("null")}},
       {{"main.tf", wide("\"*\"")}},
       "risky effective-change main.tf:15 local.a10: null -> \"*\"; used by aws_iam_role.a\n"},
      {"new local values that double",
       {{"main.tf", "resource \"aws_iam_role\" \"a\" {\n  policy = 1\n}\n"}},
       {{"main.tf", doubled("[var.a]")}},
       "risky effective-change main.tf:2 aws_iam_role.a policy: 1 -> local.a4999\n"},
      {"local values that double",
       {{"main.tf", doubled("[1]")}},
       {{"main.tf", doubled("[2]")}},
       "risky effective-change main.tf:5 local.a0: [1] -> [2]; used by aws_iam_role.a\n"},
      {"joined long lists",
       {{"main.tf", joined("1")}},
       {{"main.tf", joined("2")}},
       "risky effective-change main.tf:7 local.a0: …, 1, 1, 1, 1, 1, 1, 1] -> …, 1, 1, 1, 1, 1, 1, 2]; used by "
       "null_resource.a\n"},
      {"nested templates", {{"main.tf", nested("\"b\"")}}, {{"main.tf", nested("\"c\"")}}, changed},
      {"a file that is named often",
       {{"main.tf", run}, {"b", std::string(1'000'000, 'a')}},
       {{"main.tf", run}, {"b", std::string(1'000'000, 'b')}},
       changed},
  });
}

BOOST_AUTO_TEST_CASE(a_cancelled_comparison_ends) {
  const Packages packages;
  const PackagePlace place = packages.write("a", {{"main.tf", kRun}});
  const auto package = PackageText::read(place.root, place.directory, ClientKind::opentofu, {});
  BOOST_REQUIRE(package);
  std::stop_source source;
  source.request_stop();
  const KnownNames known = known_names(*package, *package);
  const auto facts = collect_facts(*package, {*package, *package, known, true}, Context{.stop = source.get_token()});
  BOOST_REQUIRE(!facts);
  BOOST_TEST(to_string(facts.error().code) == "REQUEST_CANCELLED");
}

BOOST_AUTO_TEST_CASE(an_executable_bit_is_found) {
  const Packages packages;
  const auto before = packages.write("before", {{"run", "id"}, {"main.tf", ""}});
  const auto after = packages.write("after", {{"run", "id"}, {"main.tf", ""}});
  for (const char* name : {"after/run", "after/main.tf"}) {  // a configuration file stays one
    fs::permissions(packages.directory / name, fs::perms::owner_exec, fs::perm_options::add);
  }
  const auto result = diff_packages(before, after, nullptr, ClientKind::opentofu, {});
  BOOST_REQUIRE(result);
  BOOST_TEST(lines_of(result->findings) == "risky script run:0 the script or binary run was made executable\n");
}

BOOST_AUTO_TEST_CASE(a_changed_default_is_listed) {
  const auto result = diff({{"main.tf", "variable \"a\" {\n  default = 1\n}\n"}},
                           {{"main.tf", "variable \"a\" {\n  default = [2,\n    3]\n}\n"}});
  BOOST_TEST_REQUIRE(result.variables.size() == 1U);
  BOOST_TEST(result.variables[0].change == "changed");
  BOOST_TEST(result.variables[0].before == "default 1");
  BOOST_TEST(result.variables[0].after == "default [2, 3]");
  BOOST_TEST(lines_of(result.findings) ==
             "notable variable-default main.tf:2 the default of variable \"a\" changed from 1 to [2, 3]\n");
}

BOOST_AUTO_TEST_CASE(a_file_of_opentofu_counts_for_terraform) {
  const Packages packages;
  const auto result = diff_packages(packages.write("before", {{"main.tf", ""}}),
                                    packages.write("after", {{"main.tf", ""}, {"outputs.tofu", kRun}}), nullptr,
                                    ClientKind::terraform, {});
  BOOST_REQUIRE(result);
  BOOST_TEST(lines_of(result->findings).find("risky provisioner outputs.tofu:2") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_literal_is_not_an_interpolation) {
  const auto run = [](const std::string& command) {
    return Files{{"main.tf", "resource \"null_resource\" \"a\" {\n  provisioner \"local-exec\" {\n    command = " +
                                 command + "\n  }\n}\n"}};
  };
  const char* changed = "risky provisioner main.tf:2 the provisioner null_resource.a local-exec was changed\n";
  check({
      {"an interpolation", run("\"echo $${path.cwd}\""), run("\"echo ${path.cwd}\""), changed},
      {"a dollar sign before it", run("\"$$${path.cwd}\""), run("\"${\"$\"}${path.cwd}\""), changed},
      {"a directive", run("\"%%{if true}a%%{else}b%%{endif}\""), run("\"%{if true}a%{else}b%{endif}\""), changed},
      {"in a branch of a directive", run("\"%{if true}$${path.cwd}%{endif}\""),
       run("\"%{if true}${path.cwd}%{endif}\""), changed},
      {"the same literal as a heredoc", run("\"echo $${path.cwd} 5%\\n\""), run("<<EOT\necho $${path.cwd} 5%\nEOT"),
       ""},
  });
}

BOOST_AUTO_TEST_CASE(other_properties_of_a_variable_are_listed) {
  const auto result = diff({{"main.tf", "variable \"a\" {\n  default = 1\n  sensitive = true\n}\n"}},
                           {{"main.tf", "variable \"a\" {\n  nullable = false\n}\n"}});
  std::string text;
  for (const messages::ChangedItem& item : result.variables) {
    text += fmt::format("{} {}: {} -> {}\n", item.name, item.change, item.before, item.after);
  }
  BOOST_TEST(text ==
             "a changed: optional -> required\n"
             "a changed: sensitive -> plain\n"
             "a changed: nullable -> not nullable\n");
}

BOOST_AUTO_TEST_CASE(what_is_notable) {
  const auto resource = [](const std::string& body) {
    return Files{{"main.tf", "resource \"aws_vpc\" \"a\" {\n  cidr = 1\n" + body + "}\n"}};
  };
  const auto meta = [](const std::string& body) {
    return "terraform {\n  provider_meta \"aws\" {\n    user_agent = [\"" + body + "\"]\n  }\n}\n";
  };
  check({
      {"the order of creation", resource(""), resource("  lifecycle {\n    create_before_destroy = true\n  }\n"),
       "notable order-changed main.tf:1 create_before_destroy of aws_vpc.a changed from false to true\n"},
      {"a dependency that is gone", resource("  depends_on = [aws_a.b, aws_a.c]\n"),
       resource("  depends_on = [aws_a.c]\n"),
       "notable order-changed main.tf:1 depends_on of aws_vpc.a changed from [aws_a.b, aws_a.c] to [aws_a.c]\n"},
      {"no dependency in JSON syntax",
       {{"x.tf.json", R"({"module":{"a":{"source":"./m","depends_on":["aws_a.b"]}}})"}, {"m/main.tf", ""}},
       {{"x.tf.json", R"({"module":{"a":{"source":"./m"}}})"}, {"m/main.tf", ""}},
       "notable order-changed x.tf.json:1 depends_on of module.a changed from [\"aws_a.b\"] to []\n"},
      {"what a provider is told",
       {{"main.tf", ""}},
       {{"main.tf", meta("a")}},
       "notable provider-configuration main.tf:2 provider_meta.aws, which sends data of the module to its provider, "
       "was "
       "added\n"},
      {"something else that a provider is told, in JSON syntax",
       {{"x.tf.json", R"({"terraform":{"provider_meta":{"aws":{"user_agent":["a"]}}}})"}},
       {{"x.tf.json", R"({"terraform":{"provider_meta":{"aws":{"user_agent":["b"]}}}})"}},
       "notable provider-configuration x.tf.json:1 provider_meta.aws, which sends data of the module to its provider, "
       "was changed\n"},
  });
}

BOOST_AUTO_TEST_CASE(a_new_demand_for_a_client_is_found) {
  check({{"a required version",
          {{"main.tf", ""}},
          {{"main.tf", "terraform {\n  required_version = \">= 1.5\"\n}\n"}},
          "notable client-version main.tf:2 the client must have a version >= 1.5\n"}});
}

BOOST_AUTO_TEST_CASE(a_client_that_is_too_old_breaks) {
  const Files before = {{"main.tf", "module \"m\" {\n  source = \"./m\"\n}\n"}, {"m/main.tf", ""}};
  Files after = before;
  after["main.tf"] += "terraform {\n  required_version = \">= 1.9\"\n}\n";
  after["m/main.tf"] = "terraform {\n  required_version = \">= 1.10\"\n}\n";
  const auto found = [&](const char* version) {
    CallUse use{.call = {"root.tf", Range{{1, 1, 0}, {1, 2, 1}}}};
    use.client_version = [version] { return version; };
    return lines_of(diff(before, after, &use).findings);
  };
  const std::string changed = "notable client-version main.tf:5 the client must have a version >= 1.9\n";
  const auto broken = [](const char* client, const char* required) {
    return fmt::format(
        "breaking client-version root.tf:1 Unsupported OpenTofu Core version: this module is not "
        "compatible with OpenTofu v{}, it requires \"{}\"\n",
        client, required);
  };
  BOOST_TEST(found("1.10.0") == changed);
  BOOST_TEST(found("1.9.5") == broken("1.9.5", ">= 1.10") + changed);
  BOOST_TEST(found("1.8.0") == broken("1.8.0", ">= 1.10") + broken("1.8.0", ">= 1.9"));
  BOOST_TEST(found("") == changed);
}

BOOST_AUTO_TEST_CASE(modules_that_a_client_rejects) {
  const auto package = [](const char* root, const char* module) {
    return Files{{"main.tf", "module \"m\" {\n  source = \"./m\"\n}\nmodule \"n\" {\n  source = \"./n\"\n}\n"},
                 {"versions.tf", root},
                 {"m/main.tf", module},
                 {"n/main.tf", module}};
  };
  const char* const demand = "terraform {\n  required_version = \">= 1.9\"\n}\n";
  const char* const less = "terraform {\n  required_version = \">= 1.8\"\n}\n";
  const std::string broken =
      "breaking client-version root.tf:1 Unsupported OpenTofu Core version: this module is not compatible with "
      "OpenTofu "
      "v1.7.0, it requires \">= 1.9\"";
  const struct {
    const char* name;
    Files before;
    Files after;
    std::string found;
  } rows[] = {
      {"one module", package("", ""), package(demand, ""), broken + "\n"},
      {"three modules", package("", ""), package(demand, demand), broken + "; also in m/main.tf, n/main.tf\n"},
      {"modules that it rejected before", package(demand, demand), package(demand, demand), ""},
      {"another requirement", package("", less), package("", demand), broken + "; also in n/main.tf\n"},
      {"a requirement that another module had", package("", demand), package(demand, demand),
       "notable client-version versions.tf:2 the client must have a version >= 1.9\n"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      CallUse use{.call = {"root.tf", Range{{1, 1, 0}, {1, 2, 1}}}};
      use.client_version = [] { return "1.7.0"; };
      BOOST_TEST(lines_of(diff(row.before, row.after, &use).findings) == row.found);
    }
  }
}

BOOST_AUTO_TEST_CASE(files_that_no_client_reads) {
  const struct {
    const char* path;
    const char* below;
    bool is_auxiliary;
    const char* content = "# a";
    const char* called = "";
  } rows[] = {
      {"README.md", "", true},
      {"docs/a.txt", "", true},
      {"examples/a/main.tf", "", true},
      {"tests/a.tftest.hcl", "", true},
      {"LICENSE", "", true},
      {"main.tf", "", false},
      {"files/a.json", "", false},
      {"run.md", "", false, "#!/bin/sh"},
      {"examples/a/main.tf", "examples/a", false},
      {"examples/a/run.txt", "", false, "# a", "./examples/a"},
      {"examples/b/run.txt", "", true, "# a", "./examples/a"},
      {"examples/a/docs/run.txt", "", true, "# a", "./examples/a"},
      {"modules/test/go.txt", "", false, "# a", "./modules/test"},
      {"examples/test/go.txt", "examples/b", false, "# a", "../test"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.path << " below " << row.below << ", called " << row.called) {
      const std::string call = fmt::format("module \"m\" {{\n  source = \"{}\"\n}}\n", row.called);
      const fs::path directory = row.below;
      Files before = {{row.path, row.content}};
      if (*row.called != '\0') {
        before[directory / "call.tf"] = call;
        before[(directory / row.called / "m.tf").lexically_normal()] = "";
      }
      Files after = before;
      after[row.path] += "b";
      const auto result = diff(before, after, nullptr, row.below);
      BOOST_TEST_REQUIRE(result.files.changed.size() == 1U);
      BOOST_TEST(result.files.changed[0].is_auxiliary == row.is_auxiliary);
    }
  }
}

BOOST_AUTO_TEST_CASE(new_lines_of_a_changelog_are_quoted) {
  const std::string old = "# Changelog\n\n## 1.0.0\n\n- First\n";
  const auto with_returns = [](std::string text) {
    for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 2)) {
      text.insert(at, "\r");
    }
    return text;
  };
  std::string umlauts;
  for (int i = 0; i < 100; ++i) {
    umlauts += "ä";
  }
  std::string many;
  std::string quoted;
  for (int i = 0; i < 30; ++i) {
    many += fmt::format("- Change {}\n", i);
    quoted += i < 20 ? fmt::format("- Change {}\n", i) : "";
  }
  const struct {
    const char* name;
    Files before;
    Files after;
    std::string lines;
  } rows[] = {
      {"a release",
       {{"CHANGELOG.md", old}},
       {{"CHANGELOG.md", "# Changelog\n\n## 1.1.0\n- A \x1b[31m\xff\n" + old.substr(12)}},
       "## 1.1.0\n- A \x1b[31m\xEF\xBF\xBD\n"},
      {"many lines", {{"CHANGELOG.md", old}}, {{"CHANGELOG.md", old + many}}, quoted},
      {"a long line",
       {{"CHANGELOG.md", old}},
       {{"CHANGELOG.md", old + std::string(300, 'a')}},
       std::string(200, 'a') + "…\n"},
      {"a long line of other letters",
       {{"CHANGELOG.md", old}},
       {{"CHANGELOG.md", old + "a" + umlauts}},
       "a" + umlauts.substr(0, 198) + "…\n"},
      {"lines that an older release has too",
       {{"CHANGELOG.md", old}},
       {{"CHANGELOG.md", "# Changelog\n\n## 1.1.0\n\n- First\n- First\n\n## 1.0.0\n\n- First\n"}},
       "## 1.1.0\n- First\n- First\n"},
      {"other ends of lines", {{"CHANGELOG.md", old}}, {{"CHANGELOG.md", with_returns(old + "- B\n")}}, "- B\n"},
      {"other ends of lines before", {{"CHANGELOG.md", with_returns(old)}}, {{"CHANGELOG.md", old + "- B\n"}}, "- B\n"},
      {"no older changelog", {{"main.tf", ""}}, {{"CHANGELOG.md", "# Changelog\n- A\n"}}, "# Changelog\n- A\n"},
      {"no older package", {}, {{"CHANGELOG.md", old}}, ""},
      {"another directory", {{"examples/CHANGELOG.md", ""}}, {{"examples/CHANGELOG.md", old}}, ""},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      std::string lines;
      for (const std::string& line : diff(row.before, row.after).files.changelog) {
        lines += line + "\n";
      }
      BOOST_TEST(lines == row.lines);
    }
  }
}

BOOST_AUTO_TEST_CASE(lists_hold_only_changes) {
  const std::string resource = "resource \"aws_vpc\" \"a\" {}\n";
  const auto variables = [](const char* type, const char* other) {
    return fmt::format("variable \"a\" {{\n  type = {}\n  default = 1\n}}\nvariable \"b\" {{\n  default = {}\n}}\n",
                       type, other);
  };
  const auto result = diff({{"main.tf", variables("string", "1") + resource}, {"b.txt", "1\n2\n"}, {"gone.md", "a\n"}},
                           {{"main.tf", variables("list(string)", "[2]") + resource +
                                            "resource \"aws_vpc\" \"b\" {}\noutput \"o\" {\n  value = 1\n}\n"},
                            {"b.txt", "1\n3\n4\n"},
                            {"z.sh", "id\n"},
                            {"z.bin", std::string("\0\n", 2)}});
  const auto lines = [](const std::vector<messages::ChangedItem>& items) {
    std::string text;
    for (const messages::ChangedItem& item : items) {
      text += fmt::format("{} {} {} -> {}\n", item.name, item.change, item.before, item.after);
    }
    return text;
  };
  BOOST_TEST(lines(result.variables) == "a changed string -> list(string)\nb changed default 1 -> default [2]\n");
  BOOST_TEST(lines(result.outputs) == "o added  -> \n");
  BOOST_TEST(lines(result.resources) == "aws_vpc changed 1 -> 2\n");
  BOOST_TEST(lines(result.providers) == "");
  std::string files;
  for (const messages::ChangedFile& file : result.files.changed) {
    files +=
        fmt::format("{} {} {} +{} -{}\n", file.path, file.change, file.is_script, file.lines_added, file.lines_removed);
  }
  BOOST_TEST(files ==
             "z.bin added true +0 -0\n"
             "z.sh added true +1 -0\n"
             "b.txt changed false +2 -1\n"
             "gone.md removed false +0 -1\n"
             "main.tf changed false +6 -2\n");
  BOOST_TEST(result.files.lines_added == 9U);
  BOOST_TEST(result.files.lines_removed == 4U);
}

BOOST_AUTO_TEST_SUITE_END()
