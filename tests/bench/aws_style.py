"""A large root module in the style of public modules for AWS, as `fmt` leaves it: the same in every run."""

import os
import random

FILES = 2000
BYTES = 20_000_000
WORDS = ("cluster subnet gateway endpoint listener target policy role bucket queue topic alarm zone record route table "
         "peering cache replica volume snapshot secret key trail budget launch template autoscaling scaling "
         "group").split()
TYPES = {"string": ['"%s"', "null"], "number": ["3"], "bool": ["true", "false"], "list(string)": ["[]", '["%s", "a"]'],
         "map(string)": ["{}"], "any": ["{}", "null"]}


class Writer:
    """The text of one file; every name in it begins with `prefix`."""

    def __init__(self, prefix):
        self.prefix = prefix
        self.random = random.Random(prefix)
        self.variables = []

    def words(self, least, most):
        return self.random.choices(WORDS, k=self.random.randint(least, most))

    def name(self):
        return "_".join([self.prefix, *self.words(1, 3), str(self.random.randrange(10_000_000))])

    def reference(self):
        return "var." + self.random.choice(self.variables)

    def variable(self):
        kind = self.random.choice(sorted(TYPES))
        default = self.random.choice(TYPES[kind]).replace("%s", "-".join(self.words(1, 3)))
        self.variables.append(self.name())
        return 'variable "%s" {\n  description = "The %s to use for the %s. Defaults to `%s`"\n  type        = %s\n' \
               '  default     = %s\n}\n' % (self.variables[-1], " ".join(self.words(2, 6)), " ".join(self.words(2, 8)),
                                            default.replace('"', "'"), kind, default)

    def resource(self):
        kind = "aws_" + "_".join(self.words(1, 2))
        return 'resource "%s" "%s" {\n  count = %s != null ? length(%s) : 0\n\n%s\n%s\n%s}\n' % (
            kind, self.name(), self.reference(), self.reference(), self.arguments(), self.nested(), self.tags())

    def arguments(self):
        values = {}
        for _ in range(self.random.randint(3, 9)):
            values["_".join(self.words(1, 2))] = self.random.choice([
                "try(%s, null)" % self.reference(), '"${%s}-%s"' % (self.reference(), self.words(1, 1)[0]),
                "lookup(element(%s, count.index), \"%s\", null)" % (self.reference(), self.words(1, 1)[0]),
                "aws_%s.this[0].id" % self.words(1, 1)[0], "%s && local.enabled" % self.reference(), "true", "443",
                '"%s"' % "-".join(self.words(1, 4)), "coalesce(%s, %s)" % (self.reference(), self.reference())])
        return aligned(values, "  ")

    def nested(self):
        block, word = self.words(2, 2)
        return '  dynamic "%s" {\n    for_each = %s\n\n    content {\n' \
               '      %s = try(%s.value["%s"], null)\n    }\n  }\n' % (
            block, self.reference(), word, block, word)

    def tags(self):
        return "  tags = merge(\n    { \"Name\" = %s },\n    %s,\n    %s,\n  )\n" % (
            self.reference(), self.reference(), self.reference())

    def local_values(self):
        values = {self.name(): self.random.choice([
            "{ for k, v in %s : k => v if v != null }" % self.reference(),
            "flatten([for s in %s : s.ids])" % self.reference(),
            "%s ? 1 : 0" % self.reference(), 'format("%%s-%%s", %s, %s)' % (self.reference(), self.reference())])
            for _ in range(self.random.randint(2, 5))}
        return "locals {\n%s}\n" % aligned(values, "  ")

    def output(self):
        return 'output "%s" {\n  description = "The %s"\n  value       = try(%s, "")\n}\n' % (
            self.name(), " ".join(self.words(3, 9)), self.reference())

    def policy(self):
        actions = ",\n".join('        "%s:%s"' % tuple(self.words(2, 2)) for _ in range(self.random.randint(2, 6)))
        return 'data "aws_iam_policy_document" "%s" {\n  source_json = <<-EOT\n    {\n' \
               '      "Version": "2012-10-17",\n' \
               '      "Statement": [\n%s\n      ],\n      "Resource": "${%s}"\n    }\n  EOT\n}\n' % (
                   self.name(), actions, self.reference())

    def module(self):
        return 'module "%s" {\n  source  = "terraform-aws-modules/%s/aws"\n  version = "~> %d.%d"\n\n%s}\n' % (
            self.name(), self.words(1, 1)[0], *self.random.choices(range(1, 9), k=2), self.arguments_of_call())

    def arguments_of_call(self):
        return aligned({word: self.reference() for word in self.words(2, 6)}, "  ")

    def comment(self):
        return "%s\n# %s\n%s\n" % ("#" * 80, " ".join(self.words(1, 4)).title(), "#" * 80)

    def file(self, size):
        parts = [self.variable(), self.variable()]
        kinds = [self.variable] * 4 + [self.resource] * 4 + [self.output] * 3
        kinds += [self.local_values, self.policy, self.comment]
        length = sum(map(len, parts))
        while length < size:
            parts.append(self.random.choice(kinds)())
            length += len(parts[-1]) + 1
        if self.random.random() < 0.1:
            parts.append(self.module())
        return "\n".join(parts)


def aligned(values, indent):
    width = max(map(len, values))
    return "".join("%s%s = %s\n" % (indent, name.ljust(width), value) for name, value in values.items())


def write_root(directory, files=FILES, size=BYTES):
    """Writes the module, and returns how many bytes of it there are."""
    os.makedirs(directory)
    written = 0
    for number in range(files):
        text = Writer("f%d" % number).file(size // files)
        with open(os.path.join(directory, "f%04d.tf" % number), "w") as file:
            written += file.write(text)
    return written
