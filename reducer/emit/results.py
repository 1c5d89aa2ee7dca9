"""How is one of several results picked, and how are several unpacked?

A *pattern* says how results are nested in what an expression gives: indices in nested tuples. An
index alone is the bare value.
"""

from __future__ import annotations

from collections.abc import Mapping

from reducer.emit.expression import Expression, tuple_text


def written_item(whole: Expression, nested: object, index: int) -> Expression:
    """The expression of one of several results.

    >>> written_item(Expression("f(x)"), ((0, 1), 2), 1).text
    'f(x)[0][1]'
    """
    if nested == index and not isinstance(nested, tuple):
        return whole
    if isinstance(nested, tuple):
        for position, part in enumerate(nested):
            if part == index or (isinstance(part, tuple) and index in part):
                return written_item(whole.item(str(position)), part, index)
    return whole.item(str(index))


def unpacking(nested: object, names: Mapping[int, str]) -> str:
    """The left side of an assignment; ``_`` for results without a name.

    >>> unpacking((0, (1, 2)), {0: "a", 2: "b"})
    'a, (_, b)'
    """
    left = _targets(nested, names)
    return left if not isinstance(nested, tuple) or len(nested) == 1 else left[1:-1]


def _targets(nested: object, names: Mapping[int, str]) -> str:
    if isinstance(nested, tuple):
        return tuple_text([_targets(part, names) for part in nested])
    assert isinstance(nested, int)
    return names.get(nested, "_")
