"""Make tensors smaller: sizes of inputs and constants, and the numbers in the calls that go with them.

A size rarely stands alone: 384 in a weight is 6 x 64 in a view and 384 in a layer norm. So a change
is a function on sizes that is applied everywhere at once: all sizes become 1; or 2; or one prime
factor is divided out of all (which keeps products and quotients true); or one size becomes 1 or 2
wherever it stands; or one axis of one input alone. The worker's fake propagation refuses, for
milliseconds, what does not fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from reducer.core.case import Argument, Case, Fill, Graph, Input, Node, Size, Spec, TensorSpec
from reducer.core.delta import Edit
from reducer.graph.prune import spec_symbols
from reducer.graph.schema import parse_schema
from reducer.graph.strides import resized

NAME = "sizes"
#: Edits here contradict each other: they are tried one after the other.
TOGETHER = False

#: Arguments that hold sizes, by the names that ATen gives them.
_SIZE_ARGUMENTS = frozenset(
    {
        "size", "sizes", "shape", "normalized_shape", "end", "output_size", "split_size",
        "split_sizes", "length", "num_classes", "kernel_size", "n", "m", "groups", "num_groups",
        "input_size", "repeats", "stride", "dilation", "N", "C", "HxW", "group", "start", "step",
        "index", "upscale_factor", "steps", "signal_ndim", "dim_size",
    }
)  # fmt: skip


def edits(case: Case) -> list[Edit]:
    """Alternatives for all sizes at once, then per size, then per axis."""
    values = sorted(set(_values(case)), reverse=True)
    if not values:
        return []
    everything = [("all", 1), ("all", 2)]
    everything += [
        ("prime", prime) for prime in sorted({p for v in values for p in _primes(v)}, reverse=True)
    ]
    found = [Edit(NAME, "all sizes", (*how,), f"sizes: {how[0]} {how[1]}") for how in everything]
    for value in values:
        for small in (1, 2):
            if small < value:
                found.append(
                    Edit(NAME, f"size {value}", ("one", value, small), f"size {value} -> {small}")
                )
    for item in case.graph.inputs:
        if isinstance(item.spec, TensorSpec):
            for axis, size in enumerate(item.spec.shape):
                for small in (1, 2):
                    if isinstance(size, int) and small < size:
                        element = f"{item.name} axis {axis}"
                        payload = ("axis", item.name, axis, small)
                        found.append(Edit(NAME, element, payload, f"{element}: {size} -> {small}"))
    return found


def apply(case: Case, edits: Sequence[Edit]) -> Case | None:
    """Apply the changes one after the other."""
    for edit in edits:
        kind, *rest = edit.payload
        if kind == "axis":
            case = _resize_axis(case, str(rest[0]), int(rest[1]), int(rest[2]))  # type: ignore[arg-type]
        else:
            case = _resize(case, _rule(str(kind), [int(number) for number in rest]))  # type: ignore[arg-type]
    return case


def _rule(kind: str, numbers: list[int]) -> Callable[[int], int]:
    if kind == "all":
        return lambda size: min(size, numbers[0])
    if kind == "prime":
        return lambda size: _divide_out(size, numbers[0])
    return lambda size: numbers[1] if size == numbers[0] else size


def _divide_out(size: int, prime: int) -> int:
    while size > 1 and size % prime == 0:
        size //= prime
    return size


def _values(case: Case) -> Iterator[int]:
    for item in case.graph.inputs:
        if isinstance(item.spec, TensorSpec):
            yield from (size for size in item.spec.shape if isinstance(size, int) and size > 1)
    yield from (symbol.hint for symbol in case.symbols if symbol.hint > 2)
    for graph in (case.graph, *(graph for _, graph in case.subgraphs)):
        for node in graph.nodes:
            for value in _size_arguments(node, case):
                yield from (number for number in _numbers(value) if number > 1)


def _size_arguments(node: Node, case: Case) -> Iterator[Argument]:
    places = _size_places(node, case)
    yield from (value for key, value in (*enumerate(node.args), *node.kwargs) if key in places)


def _size_places(node: Node, case: Case) -> frozenset[int | str]:
    """Positions and names of the arguments that hold sizes: all of them in arithmetic on symbols."""
    if node.target.startswith("operator:"):
        return frozenset(range(len(node.args)))
    text = case.schemas.get(node.target)
    arguments = parse_schema(text).arguments if text is not None else ()
    places = [(place, a.name) for place, a in enumerate(arguments) if a.name in _SIZE_ARGUMENTS]
    return frozenset(key for pair in places for key in pair)


def _numbers(value: Argument) -> Iterator[int]:
    if isinstance(value, tuple):
        for item in value:
            yield from _numbers(item)
    elif _is_whole(value):
        yield int(value)  # type: ignore[arg-type]


def _is_whole(value: Argument) -> bool:
    if isinstance(value, float):
        return value.is_integer()  # neither inf nor nan
    return isinstance(value, int) and not isinstance(value, bool)


def _resize(case: Case, rule: Callable[[int], int]) -> Case:
    def size(old: Size) -> Size:
        return rule(old) if isinstance(old, int) and old > 1 else old

    def spec(old: Spec) -> Spec:
        if isinstance(old, TensorSpec):
            return resized(old, tuple(size(item) for item in old.shape))
        return tuple(spec(item) for item in old) if isinstance(old, tuple) else old

    def argument(old: Argument) -> Argument:
        if isinstance(old, tuple):
            return tuple(argument(item) for item in old)
        if isinstance(old, int | float) and _is_whole(old) and old > 1:
            return type(old)(rule(int(old)))
        return old

    def node(old: Node) -> Node:
        places = _size_places(old, case)
        args = tuple(argument(a) if key in places else a for key, a in enumerate(old.args))
        kwargs = tuple((key, argument(a) if key in places else a) for key, a in old.kwargs)
        return replace(old, args=args, kwargs=kwargs, spec=spec(old.spec))

    def item(old: Input) -> Input:
        new = spec(old.spec)
        fill = _fill(old, None if spec_symbols(new) & moved else new)
        return replace(old, spec=new, fill=fill)

    def graph(old: Graph) -> Graph:
        return Graph(
            tuple(item(i) for i in old.inputs), tuple(node(n) for n in old.nodes), old.outputs
        )

    symbols = tuple(
        replace(symbol, hint=max(2, symbol.minimum, rule(symbol.hint))) for symbol in case.symbols
    )
    moved = {new.name for new, symbol in zip(symbols, case.symbols, strict=True) if new != symbol}
    return replace(
        case,
        graph=graph(case.graph),
        subgraphs=tuple((name, graph(old)) for name, old in case.subgraphs),
        symbols=symbols,
    )


def _resize_axis(case: Case, name: str, axis: int, small: int) -> Case:
    def item(old: Input) -> Input:
        if old.name != name or not isinstance(old.spec, TensorSpec) or axis >= len(old.spec.shape):
            return old
        shape = tuple(small if place == axis else s for place, s in enumerate(old.spec.shape))
        new = resized(old.spec, shape)
        return replace(old, spec=new, fill=_fill(old, new))

    return case.with_graph(
        replace(case.graph, inputs=tuple(item(old) for old in case.graph.inputs))
    )


def _fill(item: Input, spec: Spec) -> Fill:
    if spec == item.spec or item.fill.is_generated:
        return item.fill
    return Fill("random")  # numbers of another size do not fit


def _primes(number: int) -> set[int]:
    found, divisor = set(), 2
    while divisor * divisor <= number:
        while number % divisor == 0:
            found.add(divisor)
            number //= divisor
        divisor += 1
    return found | ({number} if number > 1 else set())
