"""Which Python expression makes an object of ExecuTorch, and what must be imported for it?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from reducer.core.recipe import Construct, Items, Plain
from reducer.emit.expression import tuple_text
from reducer.emit.literal import number, text


class Imports:
    """Import lines for what expressions name.

    A name that is taken already is reached through its module.
    """

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._modules: dict[str, str] = dict.fromkeys(taken, "")
        self.lines: set[str] = set()

    def name(self, path: str) -> str:
        """The name by which ``package.module:attribute`` is known after the import lines.

        >>> imports = Imports(); imports.name("executorch.exir:EdgeCompileConfig")
        'EdgeCompileConfig'
        >>> imports.name("torch:per_tensor_affine"), sorted(imports.lines)[0]
        ('torch.per_tensor_affine', 'from executorch.exir import EdgeCompileConfig')
        """
        module, _, attribute = path.partition(":")
        if module == "builtins":
            return attribute
        first = attribute.partition(".")[0]
        if module == "torch" or self._modules.get(first, module) != module:
            self.lines.add(f"import {module}")
            return f"{module}.{attribute}"
        self._modules[first] = module
        self.lines.add(f"from {module} import {first}")
        return attribute


def construct_text(value: Plain, imports: Imports) -> str:
    """The value as a Python expression; the imports that it needs are added to ``imports``.

    >>> option = Items("dict", (("require_dynamic_shapes", True),))
    >>> path = "executorch.backends.vulkan.partitioner.vulkan_partitioner:VulkanPartitioner"
    >>> construct_text(Construct(path, (option,)), Imports())
    'VulkanPartitioner({"require_dynamic_shapes": True})'
    """
    if isinstance(value, Construct):
        name = imports.name(value.path)
        if not value.call:
            return name
        arguments = [construct_text(item, imports) for item in value.args]
        arguments += [f"{key}={construct_text(item, imports)}" for key, item in value.kwargs]
        return f"{name}({', '.join(arguments)})"
    if isinstance(value, Items):
        return _container(value, imports)
    if isinstance(value, tuple):
        return tuple_text([construct_text(item, imports) for item in value])
    if isinstance(value, str):
        return text(value)
    if value is None or isinstance(value, bytes):
        return repr(value)
    return number(value).text


def _container(value: Items, imports: Imports) -> str:
    items = [construct_text(item, imports) for item in value.items if value.kind != "dict"]
    if value.kind == "dict":
        pairs = [item for item in value.items if isinstance(item, tuple)]
        items = [": ".join(construct_text(part, imports) for part in pair) for pair in pairs]
        return "{" + ", ".join(items) + "}"
    if value.kind == "list":
        return f"[{', '.join(items)}]"
    if value.kind == "tuple":
        return tuple_text(items)
    shown = "{" + ", ".join(items) + "}" if items else ""
    return f"frozenset({shown})" if value.kind == "frozenset" else shown or "set()"


def given(arguments: Mapping[str, str]) -> list[str]:
    """``name=value`` for the arguments that have a value.

    >>> given({"compile_config": "", "partitioner": "[P()]"})
    ['partitioner=[P()]']
    """
    return [f"{name}={value}" for name, value in arguments.items() if value]
