"""Let a value come from outside instead of being computed: as an input, a constant, a parameter."""

from __future__ import annotations

from collections.abc import Sequence

from reducer.core.case import GETITEM, Case, Ref, ScalarSpec, TensorSpec
from reducer.core.delta import Edit
from reducer.core.stage import Stage
from reducer.graph.cut import LARGE, ROLES, bypass, cut, natural_role
from reducer.graph.topology import topology

NAME = "cut-nodes"
TOGETHER = True


def edits(case: Case) -> list[Edit]:
    """For every call, last first: the role that keeps the value's nature, then the other roles.

    Where results are wrong, an input of large numbers as well.
    """
    shape = topology(case)
    found = []
    for node in reversed(case.graph.nodes):
        roles: list[str] = []
        if isinstance(node.spec, TensorSpec):
            first = natural_role(shape, node.name)
            roles = [first, *(role for role in ROLES if role != first)]
            if not shape.users(node.name):
                roles = roles[:1]  # returned as it comes in: one such program says it all
            elif case.recipe.last_stage is Stage.COMPARE and node.spec.dtype != "bool":
                roles.append(
                    LARGE
                )  # random numbers are small: some results are wrong beyond a bound
        elif isinstance(node.spec, ScalarSpec):
            roles = ["literal", "input"]
        elif isinstance(node.spec, tuple):
            roles = [natural_role(shape, node.name)]
        found += [
            Edit(NAME, node.name, (node.name, role), f"{_ARTICLE[role]} in place of {node.name}")
            for role in roles
        ]
    return found


def apply(case: Case, edits: Sequence[Edit]) -> Case | None:
    """Cut all of them; None if one cannot be."""
    roles = {str(edit.payload[0]): str(edit.payload[1]) for edit in edits}
    for name in [name for name, role in roles.items() if role == "literal"]:
        case = bypass(case, name, 1)
        del roles[name]
    several = {node.name for node in case.graph.nodes if isinstance(node.spec, tuple)}
    for node in case.graph.nodes:  # of several results, each is cut
        source = node.args[0] if node.args else None
        if (
            node.target == GETITEM
            and isinstance(source, Ref)
            and source.name in several & set(roles)
        ):
            roles.setdefault(node.name, roles[source.name])
    roles = {name: role for name, role in roles.items() if name not in several}
    left = {node.name for node in case.graph.nodes}
    return cut(case, {name: role for name, role in roles.items() if name in left})


_ARTICLE = {
    "input": "an input",
    "constant": "a constant",
    "parameter": "a parameter",
    "literal": "a number",
    LARGE: "an input of large numbers",
}
