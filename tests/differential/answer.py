"""What a reader says to a configuration, and where two of them disagree."""

from dataclasses import dataclass, field

import constraints


@dataclass
class Answer:
    errors: list = field(default_factory=list)  # the configuration is accepted where there are none
    failure: str = ""  # how the program ended, if not with an answer
    modules: dict = field(default_factory=dict)  # key -> source as normalized
    constrained: set = field(default_factory=set)  # keys of the modules with a version
    providers: dict = field(default_factory=dict)  # address -> constraints of the whole tree, in their normal form
    contributions: dict = field(default_factory=dict)  # (module key, address) -> constraints of that module
    trees: bool = True  # whether `contributions` is known

    @property
    def accepted(self):
        return not self.errors and not self.failure

    def shown(self):
        if self.failure:
            return self.failure
        if not self.accepted:
            return "rejected: " + "; ".join(self.errors)
        lines = ["accepted"]
        lines += ["module %s: %s%s" % (key, source, " (with a version)" if key in self.constrained else "")
                  for key, source in sorted(self.modules.items())]
        lines += ["provider %s %s" % item for item in sorted(self.providers.items())]
        lines += ["in module %r: %s %s" % (*key, text) for key, text in sorted(self.contributions.items())]
        return "\n".join(line.rstrip() for line in lines)


def merged(texts):
    """The normal form of all of `texts` together."""
    return constraints.normalized(",".join(texts))


def differences(expected, actual):
    """Where `actual` is not what a client accepts, one sentence each; nothing where the client rejects or has no answer."""
    if actual.failure:
        return ["no answer"]
    if not expected.accepted:
        return []
    if not actual.accepted:
        return ["rejected, and the client accepts"]
    found = compare_maps("module", expected.modules, actual.modules)
    if expected.constrained != actual.constrained:
        found.append("modules with a version: %s and %s" % (sorted(expected.constrained), sorted(actual.constrained)))
    found += compare_maps("provider", expected.providers, actual.providers)
    if not found and expected.trees:
        found += compare_maps("constraints of", expected.contributions, actual.contributions)
    return found


def judged(configuration, expected, actual):
    """The same, but where our policy is another one than theirs: whether we keep to it."""
    if configuration.refused_by_us:
        return ["accepted, against our policy"] if actual.accepted or actual.failure else []
    if configuration.accepted_by_us:
        return [] if actual.accepted else ["rejected, against our policy"]
    return differences(expected, actual)


def compare_maps(what, expected, actual):
    return ["%s %s: %s and %s" % (what, key, shown(expected, key), shown(actual, key))
            for key in sorted(expected.keys() | actual.keys()) if expected.get(key) != actual.get(key)]


def shown(values, key):
    return repr(values[key]) if key in values else "absent"
