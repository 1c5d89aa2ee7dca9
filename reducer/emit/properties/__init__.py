"""Which properties of a lowered program are built in, and how is a command made one?

One file per property: ``NAME``, ``TITLE`` (the kind of failure), ``SOURCE`` in the form of a user's own
(:class:`~reducer.core.property.Property`), which needs nothing but the program.
"""

from __future__ import annotations

from types import ModuleType

from reducer.core.property import Property
from reducer.emit.properties import lost_by_saving, not_delegated, other_bytes

_BUILT_IN: tuple[ModuleType, ...] = (lost_by_saving, not_delegated, other_bytes)

PROPERTIES: dict[str, Property] = {
    module.NAME: Property(module.NAME, module.SOURCE, module.TITLE) for module in _BUILT_IN
}
