"""How is an operator named in a case, and which operator does a name stand for?"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any

import torch

from reducer.lowering.errors import SubjectError

#: Importing this registers the operators of a namespace that torch alone does not define.
_NAMESPACES = {
    "quantized_decomposed": "torch.ao.quantization.fx._decomposed",
    "torchao": "torchao",
    "dim_order_ops": "executorch.exir.passes.dim_order_ops_registry",
}

_EDGE = "edge"


def operator_of(target: Any) -> Any:
    """A node's target; of an operator of the edge dialect the ATen operator that it wraps."""
    return target._op if type(target).__name__ == "EdgeOpOverload" else target


def target_text(target: Any) -> str:
    """The name of an FX node's target; see :mod:`reducer.core.case` for the forms."""
    if operator_of(target) is not target:
        return f"{_EDGE}.{target_text(operator_of(target))}"
    if isinstance(target, torch._ops.OpOverload):
        return str(target)
    if isinstance(target, torch._ops.HigherOrderOperator):
        return f"higher_order.{target.name()}"
    module = getattr(target, "__module__", None) or "builtins"
    return f"{module.lstrip('_') if module == '_operator' else module}:{target.__name__}"


def resolve_target(text: str) -> Callable[..., Any]:
    """The operator that a name stands for. Raises SubjectError if this installation has none."""
    try:
        if ":" in text:
            module, _, attribute = text.partition(":")
            found: Any = importlib.import_module(module)
            for part in attribute.split("."):
                found = getattr(found, part)
            return found
        namespace, _, rest = text.partition(".")
        if namespace == _EDGE:
            return _edge_operator(rest)
        if namespace in _NAMESPACES:
            importlib.import_module(_NAMESPACES[namespace])
        found = (
            torch.ops.higher_order if namespace == "higher_order" else getattr(torch.ops, namespace)
        )
        for part in rest.split("."):
            found = getattr(found, part)
        return found
    except (ImportError, AttributeError) as error:
        raise SubjectError(
            f"operator {text} is not registered here: {error}",
            hint="import the library that defines it, in the subject or beside it",
        ) from error


def schema_text(target: Any) -> str | None:
    """The schema of an operator as torch prints it; None for other targets."""
    target = operator_of(target)
    return str(target._schema) if isinstance(target, torch._ops.OpOverload) else None


def _edge_operator(text: str) -> Callable[..., Any]:
    """An operator of the edge dialect by the name of what it wraps. Raises AttributeError."""
    resolve_target(text)  # its namespace is registered from here on
    found: Any = importlib.import_module("executorch.exir.dialects._ops").ops.edge
    for part in text.split("."):
        found = getattr(found, part)
    return found


def graph_targets(module: torch.fx.GraphModule) -> Iterator[str]:
    """Operators of a graph in order, then those of its subgraphs in order of use."""
    inner: list[torch.fx.GraphModule] = []
    for node in module.graph.nodes:
        if node.op == "call_function":
            yield target_text(node.target)
            for value in node.args:
                if isinstance(value, torch.fx.Node) and value.op == "get_attr":
                    owner = module.get_submodule(str(value.target))
                    if isinstance(owner, torch.fx.GraphModule):
                        inner.append(owner)
    for graph in inner:
        yield from graph_targets(graph)
