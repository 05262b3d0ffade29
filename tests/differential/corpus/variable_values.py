"""Where values of root variables come from, and which of them wins."""

from configuration import tree

MAIN = 'variable "s" {\n  type    = string\n  default = "none"\n}\n\nmodule "m" {\n  source = "./${var.s}"\n}\n'
A, B, A_JSON, B_JSON = 's = "a"\n', 's = "b"\n', '{"s": "a"}', '{"s": "b"}'


def row(name, files, environment=None, main=MAIN):
    return tree(
        "variables: " + name,
        {"main.tf": main, **files},
        environment=environment or {},
        readers=("opentofu",),
    )


def required(name, files, environment=None):
    return row(name, files, environment, 'variable "s" {}\n\nmodule "m" {\n  source = "./${var.s}"\n}\n')


CONFIGURATIONS = [
    row("terraform.tfvars", {"terraform.tfvars": A}),
    row("terraform.tfvars.json", {"terraform.tfvars.json": A_JSON}),
    row("terraform.tfvars.json over terraform.tfvars", {"terraform.tfvars": A, "terraform.tfvars.json": B_JSON}),
    row("auto over terraform.tfvars.json", {"terraform.tfvars.json": A_JSON, "a.auto.tfvars": B}),
    row("the last auto by name", {"b.auto.tfvars": B, "a.auto.tfvars.json": A_JSON}),
    row("the last auto by name is JSON", {"a.auto.tfvars": A, "b.auto.tfvars.json": B_JSON}),
    row("other .tfvars are not read", {"x.tfvars": B, "terraform.tfvars": A}),
    row("a hidden auto", {".x.auto.tfvars": B, "terraform.tfvars": A}),
    row("a backup of an auto", {"x.auto.tfvars~": B, "terraform.tfvars": A}),
    row(".tofuvars is nothing", {"terraform.tofuvars": B, "terraform.tfvars": A}),
    row("the environment", {}, {"TF_VAR_s": "b"}),
    row("a file over the environment", {"terraform.tfvars": A}, {"TF_VAR_s": "b"}),
    row("-var over files", {"z.auto.tfvars": A}, {"TF_CLI_ARGS": "-var=s=b"}),
    row("-var-file over files", {"z.auto.tfvars": A, "x.tfvars": B}, {"TF_CLI_ARGS": "-var-file=x.tfvars"}),
    row("-var before -var-file", {"x.tfvars": B}, {"TF_CLI_ARGS": "-var=s=a -var-file=x.tfvars"}),
    row("-var after -var-file", {"x.tfvars": B}, {"TF_CLI_ARGS": "-var-file=x.tfvars -var=s=a"}),
    row("-var of init and of all commands", {}, {"TF_CLI_ARGS": "-var=s=a", "TF_CLI_ARGS_init": "-var=s=b"}),
    row("-var of init and -var-file of all", {"x.tfvars": B},
        {"TF_CLI_ARGS": "-var-file=x.tfvars", "TF_CLI_ARGS_init": "-var=s=a"}),
    row("-var with a blank behind the name", {}, {"TF_CLI_ARGS": "-var 's =a'"}),
    row("-var with a blank for a name", {"terraform.tfvars": A}, {"TF_CLI_ARGS": "-var ' =a'"}),
    row("-var without a value", {"terraform.tfvars": A}, {"TF_CLI_ARGS": "-var s"}),
    row("-var-file that is not there", {}, {"TF_CLI_ARGS": "-var-file=no-such.tfvars"}),
    row("a number for a string", {"terraform.tfvars": "s = 1\n", "1/main.tf": ""}),
    row("a list for a string", {"terraform.tfvars": "s = []\n"}),
    row("an expression in a file", {"terraform.tfvars": 's = upper("a")\n'}),
    row("a variable in a file", {"terraform.tfvars": "s = var.s\n"}),
    row("a block in a file", {"terraform.tfvars": "s {}\n"}),
    row("a file that does not parse", {"terraform.tfvars": "s = \n"}),
    row("JSON that does not parse", {"terraform.tfvars.json": "{"}),
    row("the name twice in a file", {"terraform.tfvars": A + B}),
    row("an undeclared name", {"terraform.tfvars": A + "other = 1\n"}),
    row("a null", {"terraform.tfvars": "s = null\n"}),
    row("an empty file", {"terraform.tfvars": "", "a.auto.tfvars": A}),
    row(
        "a workspace",
        {"a/main.tf": ""},
        {"TF_WORKSPACE": "a"},
        'module "m" {\n  source = "./${terraform.workspace}"\n}\n',
    ),
    required("a required one by a file", {"terraform.tfvars": A}),
    required("a required one by the environment", {}, {"TF_VAR_s": "b"}),
    required("a required one by nothing", {}),
    row(
        "an object by the environment",
        {},
        {"TF_VAR_o": '{ d = "b" }'},
        'variable "o" {\n  type = object({ d = string })\n}\n\nmodule "m" {\n  source = "./${var.o.d}"\n}\n',
    ),
    row(
        "a list by the environment that is none",
        {},
        {"TF_VAR_o": "["},
        'variable "o" {\n  type = list(string)\n}\n\nmodule "m" {\n  source = "./${var.o[0]}"\n}\n',
    ),
    row(
        "text by the environment that looks like a list",
        {},
        {"TF_VAR_o": "[1]"},
        'variable "o" {}\n\nmodule "m" {\n  source = var.o == "[1]" ? "./a" : "./b"\n}\n',
    ),
    row(
        "an attribute that is missing",
        {"terraform.tfvars": "o = {}\n"},
        None,
        'variable "o" {\n  type = object({ d = string })\n}\n\nmodule "m" {\n  source = "./${var.o.d}"\n}\n',
    ),
]
