"""JSON syntax: where it has forms of its own."""

from configuration import tree


def rows(table, **options):
    return [tree("json: " + name, {"main.tf.json": text}, **options) for name, text in table.items()]


CONFIGURATIONS = rows(
    {
        "an empty object": "{}",
        "an empty array": "[]",
        "an array of objects": '[{"module": {"m": {"source": "./a"}}}, {}]',
        "null": "null",
        "nothing": "",
        "a string": '"x"',
        "an array of strings": '["x"]',
        "two values": "{} {}",
        "a call": '{"module": {"m": {"source": "./a"}}}',
        "an array of calls": '{"module": [{"m": {"source": "./a"}}, {"n": {"source": "./b"}}]}',
        "an array of bodies": '{"module": {"m": [{"source": "./a"}]}}',
        "two bodies": '{"module": {"m": [{"source": "./a"}, {"source": "./b"}]}}',
        "no body": '{"module": {"m": []}}',
        "a null body": '{"module": {"m": null}}',
        "null for labels": '{"module": null}',
        "an empty object for labels": '{"module": {}}',
        "an empty array for labels": '{"module": []}',
        "a string for a body": '{"module": {"m": "x"}}',
        "a string for labels": '{"module": "x"}',
        "the member twice": '{"module": {"m": {"source": "./a"}}, "module": {"n": {"source": "./b"}}}',
        "the label twice": '{"module": {"m": {"source": "./a"}, "m": {"source": "./b"}}}',
        "the attribute twice": '{"module": {"m": {"source": "./a", "source": "./b"}}}',
        "a comment at the top": '{"//": "x", "module": {"m": {"source": "./a"}}}',
        "a comment of any type": '{"//": {"x": [1]}, "module": {"m": {"//": null, "source": "./a"}}}',
        "a comment among labels": '{"module": {"//": "x", "m": {"source": "./a"}}}',
        "a comment in required_providers": '{"terraform": {"required_providers": {"//": "x", "aws": "~> 1.0"}}}',
        "a comment in locals": '{"locals": {"//": "x", "a": 1}}',
        "an unknown block": '{"resources": {}}',
        "an unknown attribute": '{"variable": {"v": {"defualt": 1}}}',
        "a trailing comma": '{"module": {"m": {"source": "./a"},}}',
        "a comment of native syntax": "{} # x\n",
        "a byte order mark": "\ufeff{}",
        "unquoted member": "{module: {}}",
        "single quotes": "{'module': {}}",
        "an escape": '{"module": {"m": {"source": "\\u002e\\/a"}}}',
        "a wrong escape": '{"locals": {"x": "\\x"}}',
        "a pair of surrogates": '{"locals": {"x": "\\ud83d\\ude00"}}',
        "a number as JSON forbids it": '{"locals": {"x": 01}}',
        "a number with an exponent": '{"locals": {"x": 1e3}}',
        "a tab in a string": '{"locals": {"x": "a\tb"}}',
        "deep": '{"locals": {"x": %s1%s}}' % ("[" * 60, "]" * 60),
        "a template that is none": '{"locals": {"x": "${"}}',
        "an escaped template": '{"locals": {"x": "$${y}"}}',
        "a provider by a string": '{"resource": {"aws_x": {"y": {"provider": "google.alt"}}}}',
        "a provider by a template": '{"resource": {"aws_x": {"y": {"provider": "${google.alt}"}}}}',
        "depends_on": '{"module": {"m": {"source": "./a", "depends_on": ["null_resource.x"]}}}',
        "providers of a call": (
            '{"provider": {"null": [{}, {"alias": "x"}]}, "module": {"m": {"source": "./a", "providers": {"null":'
            ' "null.x"}}}}'
        ),
        "two provider blocks": '{"provider": {"aws": [{"alias": "x"}, {"version": "~> 1.0"}]}}',
        "provider blocks in two objects": '{"provider": [{"aws": {}}, {"google": {"version": "~> 1.0"}}]}',
        "resources of two types": '{"resource": {"aws_a": {"x": {}, "y": {}}, "google_b": {"x": [{}]}}}',
        "resource without a name": '{"resource": {"aws_a": {}}}',
        "required_providers": (
            '{"terraform": {"required_providers": {"aws": {"source": "mycorp/aws", "version": "~> 1.0"}}}}'
        ),
        "required_providers in an array": '{"terraform": [{"required_providers": [{"aws": "~> 1.0"}]}]}',
        "required_providers twice": (
            '{"terraform": [{"required_providers": {"aws": "1"}}, {"required_providers": {"tls": "1"}}]}'
        ),
        "required_providers as two objects": (
            '{"terraform": {"required_providers": [{"aws": "~> 1.0"}, {"tls": "1.0.0"}]}}'
        ),
        "a template in required_providers": (
            '{"terraform": {"required_providers": {"aws": {"version": "${\\"1.0\\"}"}}}}'
        ),
        "an alias in required_providers": (
            '{"terraform": {"required_providers": {"aws": {"configuration_aliases": ["aws.x"]}}}}'
        ),
        "a type": '{"variable": {"v": {"type": "list(string)", "default": []}}}',
        "a wrong type": '{"variable": {"v": {"type": "${string}"}}}',
        "a null variable": '{"variable": {"v": null}}',
        "an empty variable": '{"variable": {"v": {}}}',
        "import": '{"import": {"to": "aws_x.y", "id": "1"}}',
        "two imports": '{"import": [{"to": "aws_x.y", "id": "1"}, {"to": "tls_x.y", "id": "2"}]}',
        "moved": '{"moved": {"from": "aws_x.y", "to": "aws_x.z"}}',
        "check": (
            '{"check": {"c": {"data": {"http": {"h": {}}}, "assert": {"condition": "${data.http.h.status}",'
            ' "error_message": "No."}}}}'
        ),
        "required_version": '{"terraform": {"required_version": ">= 1.0"}}',
    }
) + rows(
    {
        "a template for a source": '{"locals": {"d": "a"}, "module": {"m": {"source": "./${local.d}"}}}',
        "an expression for a source": (
            '{"variable": {"v": {"default": ["./a"]}}, "module": {"m": {"source": "${var.v[0]}"}}}'
        ),
        "version null": '{"module": {"m": {"source": "./a", "version": null}}}',
        "an object key by template": (
            '{"locals": {"k": "x", "o": {"${local.k}": "./b"}}, "module": {"m": {"source": "${local.o.x}"}}}'
        ),
        "a directive for a source": '{"module": {"m": {"source": "%{ if true }./a%{ else }./b%{ endif }"}}}',
        "language": '{"language": {"compatible_with": {"opentofu": ">= 1.0"}}}',
    },
    readers=("opentofu",),
)
CONFIGURATIONS += rows({"a lone surrogate": '{"locals": {"x": "\\ud800"}}'}, refused_by_us=True)
