"""What modules hold besides the calls: providers in all forms, requirements on the client, and the rest of a module."""

from rendering import Block, Raw, Reference

PROVIDERS = {  # local name -> sources that fit it
    "aws": [None, "hashicorp/aws", "HashiCorp/AWS", "aws", "registry.opentofu.org/hashicorp/aws"],
    "google": [None, "hashicorp/google", "registry.terraform.io/hashicorp/google"],
    "random": [None, "hashicorp/random"],
    "null": [None, "null"],
    "acme": ["mycorp/acme", "registry.example.com/mycorp/acme", "registry.example.com:8443/mycorp/acme"],
    "internal": ["registry.example.com/corp/other-name", "hashicorp/internal"],
    "my-http": ["hashicorp/http"],
    "kubernetes": [None, "hashicorp/kubernetes"],
}
CONSTRAINTS = ["~> 1.0", "~> 2", "~> 3.1.4", ">= 1.0, < 2.0", ">=1.0", "=1.2", "1.2.3", "> 0.9, != 1.1",
               "< 9, >= 0.0.1", "<= 4.0.0", ">= 1.0.0-beta1", " >= 1.2 ", "~> 1.0, ~> 1.0.0", "= 1.0.0+meta"]
DECLARED_KINDS = ["resource", "data", "ephemeral", "check", "import", "provider", "provider"]


def add_required_providers(draft):
    """Returns the local names; the values of the block are strings and objects."""
    entries = {}
    for name in draft.random.sample(sorted(PROVIDERS), draft.random.randint(1, 4)):
        source = draft.random.choice(PROVIDERS[name])
        version = draft.random.choice(CONSTRAINTS + [None] * 6)
        if source is None and version and draft.random.random() < 0.5:
            entries[name] = version
            continue
        entries[name] = {key: value for key, value in (("source", source), ("version", version)) if value}
    draft.add("terraform", blocks=[block("required_providers", body=entries)])
    return list(entries)


def block(type, labels=(), body=None, blocks=()):
    return Block(type, list(labels), dict(body or {}), list(blocks))


def add_provider_uses(draft, names):
    names = names + ["tls", "azurerm", "terraform", "hashicups"]
    for _ in range(draft.random.randint(0, 4)):
        name = draft.random.choice(names)
        add_provider_use(draft, draft.random.choice(DECLARED_KINDS), name, draft.random.choice(names))


def add_provider_use(draft, kind, name, other):
    type = name + draft.random.choice(["_thing", "_a_b", ""])
    body = {"provider": Reference(other)} if draft.random.random() < 0.2 else {}
    if kind == "check":
        inner = draft.name()
        condition = Raw("data.%s.%s.id != null" % (type, inner))
        draft.add("check", [draft.name()], blocks=[
            block("data", [type, inner], body),
            block("assert", body={"condition": condition, "error_message": "No."})])
    elif kind == "import":
        if not draft.callers:
            draft.add("import", body={"to": Reference("%s.%s" % (type, draft.name())), "id": "x", **body})
    elif kind == "provider":
        if ("provider", name) not in draft.used and not (draft.callers and draft.random.random() < 0.7):
            draft.used.add(("provider", name))
            body = {"version": draft.random.choice(CONSTRAINTS)} if draft.random.random() < 0.2 else {"region": "x"}
            draft.add("provider", [name], body)
            if draft.random.random() < 0.3:
                draft.add("provider", [name], {"alias": draft.name()})
    else:
        draft.add(kind, [type, draft.name()], {"count": 1, **body} if draft.random.random() < 0.3 else body)


def add_client_requirement(draft, reader):
    """Mostly one that holds."""
    hold = [">= 1.0", ">= 1.3.0, < 2.0.0", "~> 1.1", ">= 0.13"]
    version = draft.random.choice(hold * 4 + [">= 99", "< 1.0", "1.2.x"])
    if reader.implementation == "opentofu" and reader.at_least(1, 12) and draft.random.random() < 0.4:
        inner = block("compatible_with", body={"opentofu": version})
        draft.add("language", blocks=[inner])
    else:
        draft.add("terraform", body={"required_version": version})


def add_ordinary(draft):
    """Blocks that say nothing of modules or providers."""
    for _ in range(draft.random.randint(0, 3)):
        name = draft.name()
        kind = draft.random.randrange(6)
        if kind == 0:
            draft.add("output", [name], {"value": Raw("path.module"), "description": "An output"})
        elif kind == 1:
            condition = Raw("length(var.%s) < 9" % name)
            validation = block("validation", body={"condition": condition, "error_message": "No."})
            draft.add("variable", [name], {"default": "x", "nullable": False, "sensitive": True}, [validation])
        elif kind == 2:
            draft.add("locals", [], {name: [1, "two", {"three": 4.5}], name + "_b": Raw("local." + name)})
        elif kind == 3:
            draft.add("moved", [], {"from": Reference("null_resource.a"), "to": Reference("null_resource." + name)})
        elif kind == 4:
            inner = block("lifecycle", body={"create_before_destroy": True, "ignore_changes": [Reference("tags")]})
            draft.add("resource", ["null_resource", name], {"count": Raw("1 + 1")}, [inner])
        else:
            draft.add("terraform", blocks=[block("backend", ["local"], {"path": "x.tfstate"})]
                      if ("backend",) not in draft.used else [])
            draft.used.add(("backend",))
