"""Under which names does a case tell nothing of the model that it came from?

Values are called after their operator, inputs after their role. So what is said about a case can be read
without the model, and nothing of the user's own code is in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from reducer.core.case import (
    Argument,
    Case,
    Graph,
    GraphRef,
    Input,
    Ref,
    Structure,
    graph_references,
    node_references,
    references,
    substitute,
    substitute_node,
)
from reducer.emit.names import standard_suffix, value_stem
from reducer.emit.plain_source import plain_source

#: What export puts before the names of what a module holds.
_PREFIX = {"parameter": "p_", "buffer": "b_", "constant": "c_"}
_STEM = {"parameter": "weight", "buffer": "buffer", "constant": "constant"}
_LETTERS = "xyzuvw"


def plain_names(case: Case, *, keep: bool = False) -> dict[str, str]:
    """Old name -> new name of every value. ``keep``: inputs keep the names that the user gave."""
    names: dict[str, str] = {}
    taken: dict[str, int] = {}
    graphs = [case.graph, *(graph for _, graph in case.subgraphs)]
    for graph in graphs:
        for item in graph.inputs:
            names[item.name] = _fresh(item.name if keep else _input_stem(item), taken)
    for graph in graphs:
        for node in graph.nodes:
            names[node.name] = _fresh(value_stem(node.target), taken)
    return names


def renamed(case: Case, names: Mapping[str, str], *, keep: bool = False) -> Case:
    """The case with its values called so. Without ``keep`` modules and output keys lose their names."""

    def graph(old: Graph) -> Graph:
        nodes = []
        for node in old.nodes:
            known: dict[str, Argument] = {n: Ref(names[n]) for n in node_references(node)}
            known |= {n: GraphRef(n) for n in graph_references(node.args)}
            module = node.module if keep else ""
            nodes.append(
                replace(substitute_node(node, known), name=names[node.name], module=module)
            )
        return Graph(
            tuple(replace(item, name=names[item.name]) for item in old.inputs),
            tuple(nodes),
            tuple(substitute(o, {n: Ref(names[n]) for n in references(o)}) for o in old.outputs),
        )

    return replace(
        case,
        graph=graph(case.graph),
        subgraphs=tuple((name, graph(old)) for name, old in case.subgraphs),
        structure=case.structure if keep else _plain_structure(case.structure),
        source=case.source if keep or not case.source else plain_source(case.source),
    )


def _input_stem(item: Input) -> str:
    """A name that says the role; torch's own suffixes (``running_mean``) are kept.

    >>> _input_stem(Input("p_encoder_secret_weight", "parameter", None))
    'p_weight'
    >>> _input_stem(Input("b_tracker_seen", "buffer", None))
    'b_buffer'
    """
    if item.role == "input":
        return _LETTERS[0]
    return _PREFIX[item.role] + (standard_suffix(item.name) or _STEM[item.role])


def _fresh(stem: str, taken: dict[str, int]) -> str:
    """The stem, the next letter if it is one, or the stem with the first number that is free.

    ``taken`` has the names that are, each with the last number that was put behind it.
    """
    choices = iter(_LETTERS[_LETTERS.index(stem) :] if stem in _LETTERS else [stem])
    name = next((letter for letter in choices if letter not in taken), "")
    while not name:
        taken[stem] += 1
        candidate = f"{stem}_{taken[stem]}"
        name = candidate if candidate not in taken else ""
    taken[name] = 1
    return name


def _plain_structure(structure: Structure) -> Structure:
    """The nesting with dict keys ``a``, ``b``, ... and the user's own tuples as plain ones.

    >>> _plain_structure(("dict:logits,secret", "*", ("list", "*")))
    ('dict:a,b', '*', ('list', '*'))
    """
    if not isinstance(structure, tuple):
        return structure
    kind = str(structure[0])
    if kind.startswith("dict:"):
        count = len(structure) - 1
        kind = "dict:" + ",".join(chr(97 + n) if count <= 26 else f"k{n}" for n in range(count))
    elif kind.startswith("named:") and not kind.startswith("named:torch."):
        kind = "tuple"
    return (kind, *(_plain_structure(child) for child in structure[1:]))
