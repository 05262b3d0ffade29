"""What a source or a version may be made of (OpenTofu), and that Terraform takes literals only."""

from configuration import Configuration, tree, trees


def sources(table, **options):
    """Each expression as the source of a call, of a module with some variables and locals."""
    base = (
        'variable "s" {\n  default = "a"\n}\n\nvariable "n" {\n  type    = number\n  default = 1\n}\n\n'
        'variable "o" {\n  type = object({ d = optional(string, "b"), l = optional(list(string), ["a"]) })\n'
        '  default = {}\n}\n\nlocals {\n  s = "./${var.s}"\n  m = { a = "./a", b = "./b" }\n}\n\n'
    )
    return [
        tree("values: " + expression, {"main.tf": base + 'module "m" {\n  source = %s\n}\n' % expression}, **options)
        for expression in table
    ]


CONFIGURATIONS = (
    sources(
        [
            '"./a"',
            "local.s",
            '"./${var.s}"',
            "local.m.b",
            'local.m["b"]',
            "local.m[var.s]",
            '"./${var.o.d}"',
            '"./${var.o.l[0]}"',
            'var.n == 1 ? "./a" : "./b"',
            'var.n > 1 ? "./a" : "./b"',
            'true ? "./a" : var.no_such',
            '"./${lower("A")}"',
            'join("/", [".", var.s])',
            'format("./%s", var.s)',
            "values(local.m)[1]",
            "[for k, v in local.m : v][0]",
            '{ for k, v in local.m : v => k... }["./a"] == ["a"] ? "./a" : "./b"',
            "coalesce(null, local.s)",
            'try(var.o.x, "./b")',
            'can(var.o.x) ? "./a" : "./b"',
            '"${path.module}/a"',
            '"./%{ for d in ["a"] }${d}%{ endfor }"',
            '"./%{ if var.n == 1 }a%{ else }b%{ endif }"',
            'templatestring("./$${x}", { x = "a" })',
            'terraform.workspace == "default" ? "./a" : "./b"',
            'tofu.workspace == "default" ? "./a" : "./b"',
            'core::format("./%s", "a")',
            'jsondecode("[\\"./a\\"]")[0]',
            'yamldecode("- ./a")[0]',
            'regex("^x(.*)$", "x./b")[0]',
            'replace("./x", "/x/", "a")',
            'split(",", "./a,./b")[1]',
            'trimprefix("x./a", "x")',
            'tostring("./a")',
            'one(["./a"])',
            'element(["./a", "./b"], 3)',
            'lookup(local.m, "c", "./a")',
            'substr("./abc", 0, 3)',
            'nonsensitive("./a")',
            '"./${base64decode("YQ==")}"',
            '"./${substr(sha1("x"), 0, 0)}a"',
            'fileexists("main.tf") ? "./a" : "./b"',
            'file("main.tf") == "" ? "./a" : "./b"',
            '"./${trimspace(<<EOT\n  a\nEOT\n)}"',
            "null",
            '""',
            "1",
            "true",
            "[]",
            "{}",
            '["./a"]',
            "var.no_such",
            "local.no_such",
            "no_such",
            "module.m.x",
            "null_resource.x.id",
            "data.x.y.z",
            "each.key",
            "count.index",
            "self.x",
            "path.no_such",
            "terraform.no_such",
            'sensitive("./a")',
            'no_such("./a")',
            'file("no-such")',
            "element([], 0)",
            '"./a" + 1',
            "1 / 0",
            'provider::x::y("./a")',
            "core::no_such()",
            '"./${null}a"',
            '"./${[]}"',
            "uuid()",
            "plantimestamp()",
            'regex("(", "x")',
            'jsondecode("{")',
            "var.s.x",
            "local.m.x",
            'local.m["x"]',
            "local",
            "var",
            '"./${var.s',
            'tonumber("x")',
            'length("xx") == 2 ? "./a" : "./b"',
            '!true ? "./b" : "./a"',
            '-1 < 0 ? "./a" : "./b"',
            '7 % 4 == 3 ? "./a" : "./b"',
            'null == null ? "./a" : "./b"',
            '("./a")',
            'local.m.*.x == null ? "./a" : "./b"',
            'terraform.applying ? "./a" : "./b"',
            'ephemeralasnull("./a")',
            'type("x") == string ? "./a" : "./b"',
        ]
    )
    # Its value is another one at each run.
    + sources(['"./${timestamp() == "" ? "b" : "a"}"'], refused_by_us=True)
    + trees(
        "values",
        {
            "locals that go round": (
                'locals {\n  a = local.b\n  b = local.a\n}\n\nmodule "m" {\n  source = local.a\n}\n'
            ),
            "locals that go round, unused": "locals {\n  a = local.b\n  b = local.a\n}\n",
            "a local of itself": 'locals {\n  a = "${local.a}"\n}\n\nmodule "m" {\n  source = local.a\n}\n',
            "a local that is unused and wrong": "locals {\n  a = no_such()\n  b = var.no_such\n  c = module.m.x\n}\n",
            "a local that needs a resource, unused": (
                'locals {\n  a = null_resource.x.id\n}\n\nmodule "m" {\n  source = "./a"\n}\n'
            ),
            "part of a local that needs a resource": (
                'locals {\n  a = { x = null_resource.x.id, s = "./a" }\n}\n\nmodule "m" {\n  source = local.a.s\n}\n'
            ),
            "an argument that cannot be static, unused": (
                'module "m" {\n  source = "./a"\n  x      = null_resource.x.id\n}\n'
            ),
            "a sensitive variable": (
                'variable "s" {\n  default   = "./a"\n  sensitive = true\n}\n\nmodule "m" {\n  source = var.s\n}\n'
            ),
            "an ephemeral variable": (
                'variable "s" {\n  default   = "./a"\n  ephemeral = true\n}\n\nmodule "m" {\n  source = var.s\n}\n'
            ),
            "a null default": 'variable "s" {\n  default = null\n}\n\nmodule "m" {\n  source = var.s\n}\n',
            "a required variable": 'variable "s" {}\n\nmodule "m" {\n  source = var.s\n}\n',
            "a required variable, unused": 'variable "s" {}\n\nmodule "m" {\n  source = "./a"\n}\n',
            "const": 'variable "s" {\n  default = "./a"\n  const   = true\n}\n\nmodule "m" {\n  source = var.s\n}\n',
            "not const": (
                'variable "s" {\n  default = "./a"\n  const   = false\n}\n\nmodule "m" {\n  source = var.s\n}\n'
            ),
            "a deprecated variable": (
                'variable "s" {\n  default    = "./a"\n  deprecated = "Use t."\n}\n\nmodule "m" {\n  source ='
                " var.s\n}\n"
            ),
            "a validation that fails": (
                'variable "s" {\n  default = "./a"\n  validation {\n    condition     = var.s == ""\n    error_message'
                ' = "No."\n  }\n}\n\nmodule "m" {\n  source = var.s\n}\n'
            ),
            "version by a null variable": (
                'variable "v" {\n  default = null\n}\n\nmodule "m" {\n  source  = "./a"\n  version = var.v\n}\n'
            ),
            "version by a conditional": 'module "m" {\n  source  = "./a"\n  version = true ? null : "1.0.0"\n}\n',
            "a type that converts": (
                'variable "s" {\n  type    = string\n  default = 1\n}\n\nmodule "m" {\n  source = var.s == "1" ? "./a"'
                ' : "./b"\n}\n'
            ),
        },
    )
    + [
        Configuration(
            "values: given to a child",
            {
                "main.tf": (
                    'module "m" {\n  source = "./a"\n  dir    = "x"\n}\n\nmodule "n" {\n  source = "./a"\n  dir    ='
                    ' "y"\n}\n'
                ),
                "a/main.tf": 'variable "dir" {}\n\nmodule "i" {\n  source = "./${var.dir}"\n}\n',
                "a/x/main.tf": "",
                "a/y/main.tf": "",
            },
        ),
        Configuration(
            "values: given to a grandchild",
            {
                "main.tf": 'locals {\n  d = "x"\n}\n\nmodule "m" {\n  source = "./a"\n  dir    = "../${local.d}"\n}\n',
                "a/main.tf": 'variable "dir" {}\n\nmodule "n" {\n  source = "./b"\n  dir    = "../${var.dir}"\n}\n',
                "a/b/main.tf": 'variable "dir" {}\n\nmodule "i" {\n  source = var.dir\n}\n',
                "x/main.tf": 'resource "tls_x" "y" {}\n',
            },
        ),
        Configuration(
            "values: a child's argument that needs a resource",
            {
                "main.tf": 'module "m" {\n  source = "./a"\n  dir    = null_resource.x.id\n}\n',
                "a/main.tf": 'variable "dir" {}\n\nmodule "i" {\n  source = "./${var.dir}"\n}\n',
            },
        ),
        Configuration(
            "values: a child's default",
            {
                "main.tf": 'module "m" {\n  source = "./a"\n}\n',
                "a/main.tf": 'variable "dir" {\n  default = "x"\n}\n\nmodule "i" {\n  source = "./${var.dir}"\n}\n',
                "a/x/main.tf": "",
            },
        ),
        Configuration(
            "values: a child's argument is missing",
            {
                "main.tf": 'module "m" {\n  source = "./a"\n}\n',
                "a/main.tf": 'variable "dir" {}\n\nmodule "i" {\n  source = "./${var.dir}"\n}\n',
                "a/x/main.tf": "",
            },
        ),
        Configuration(
            "values: null for a child's non-nullable variable",
            {
                "main.tf": 'module "m" {\n  source = "./a"\n  dir    = null\n}\n',
                "a/main.tf": (
                    'variable "dir" {\n  default  = "x"\n  nullable = false\n}\n\nmodule "i" {\n  source ='
                    ' "./${var.dir}"\n}\n'
                ),
                "a/x/main.tf": "",
            },
        ),
        Configuration(
            "values: path.module in a child",
            {
                "main.tf": 'module "m" {\n  source = "./a"\n}\n',
                "a/main.tf": 'module "i" {\n  source = path.module == "a" ? "./x" : "./y"\n}\n',
                "a/x/main.tf": "",
                "a/y/main.tf": "",
            },
        ),
    ]
)
