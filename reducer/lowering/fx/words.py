"""Which words of an exported program are the user's own: names of attributes, modules, classes?"""

from __future__ import annotations

import re

from torch.export import ExportedProgram

from reducer.core.signature import is_library


def user_words(program: ExportedProgram) -> tuple[str, ...]:
    """Every such word once: parts of the paths of what modules hold, and classes of modules.

    Classes of libraries are not the user's.
    """
    found: dict[str, None] = {}
    for spec in program.graph_signature.input_specs:
        found |= dict.fromkeys(str(spec.target or spec.arg.name).split("."))
    for node in program.graph.nodes:
        for entry in (node.meta.get("nn_module_stack") or {}).values():
            path, kind = entry if isinstance(entry, tuple) else ("", entry)
            found |= dict.fromkeys(re.findall(r"\w+", str(path).removeprefix("L['self']")))
            name = kind if isinstance(kind, str) else f"{kind.__module__}.{kind.__qualname__}"
            if not is_library(name):
                found |= dict.fromkeys(name.split("."))
    return tuple(word for word in found if word.isidentifier())
