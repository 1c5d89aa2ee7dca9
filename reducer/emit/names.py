"""What would a person call this value? Names by role and operator, unique within their scope."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterable

#: Names that mean something else in a script, or to ``torch.nn.Module``.
_RESERVED = frozenset(
    "self torch F Dim Repro example_inputs dynamic_shapes exported lower tensors load_file "
    "Path sys math forward training half float double type to cpu cuda compile eval train "
    "apply buffers scan torch_map while_loop children modules parameters state_dict "
    "requires_grad_ zero_grad share_memory".split()
)

_LETTERS = ("x", "y", "z", "u", "v", "w")
_GENERIC = re.compile(r"(l_|self|args?|kwargs|inputs?|anchor|arg\d|primals|sub)", re.IGNORECASE)
_DESCRIPTIVE = re.compile(r"[a-z][a-z_]{0,15}")
_SUFFIX = re.compile(
    r"(running_mean|running_var|num_batches_tracked|(?:in_proj|out_proj)_(?:weight|bias)"
    r"|(?:weight|bias)(?:_(?:ih|hh)_l\d+)?)$"
)


class Names:
    """The names taken in one scope."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = dict.fromkeys(taken, 1)  # each with the last number that was put behind it

    def take(self, stem: str) -> str:
        """``stem``, or the first of ``stem_2``, ``stem_3``, ... that is free; it is taken then.

        >>> names = Names(); names.take("relu"), names.take("relu"), names.take("max")
        ('relu', 'relu_2', 'max_value')
        """
        stem = stem if is_free_word(stem) else f"{stem}_value"
        name = stem
        while name in self._taken:
            self._taken[stem] += 1
            name = f"{stem}_{self._taken[stem]}"
        self._taken[name] = 1
        return name

    def take_first(self, stems: Iterable[str], otherwise: str) -> str:
        """The first of ``stems`` that is free, else a numbered ``otherwise``."""
        for stem in stems:
            if stem not in self._taken and is_free_word(stem):
                return self.take(stem)
        return self.take(otherwise)


def is_free_word(word: str) -> bool:
    """Whether the word is an identifier that means nothing else in a script."""
    known = keyword.iskeyword(word) or word in _RESERVED or hasattr(builtins, word)
    return word.isidentifier() and not known


def input_stems(name: str, operators: Iterable[str]) -> tuple[str, ...]:
    """Names for a model input, best first: its own if it says something, then ``x``, ``y``, ...

    ``operators`` are names of operators; a value of the graph that became an input is called after
    one, which says nothing about an input.

    >>> [input_stems(name, ["relu"])[0] for name in ("image", "relu_3", "args_0")]
    ['image', 'x', 'x']
    """
    said = _DESCRIPTIVE.fullmatch(name) and not _GENERIC.match(name)
    telling = bool(said) and name.strip("_") not in set(operators)
    return (name, *_LETTERS) if telling and name not in _LETTERS else _letters_from(name)


def _letters_from(name: str) -> tuple[str, ...]:
    return (name, *_LETTERS) if name in _LETTERS else _LETTERS


def attribute_stem(name: str, role: str) -> str:
    """A name for a parameter, buffer or constant, from the name that export gives it.

    >>> attribute_stem("p_l_weight_ih_l0", "parameter"), attribute_stem("p_codes", "parameter")
    ('weight_ih_l0', 'codes')
    >>> attribute_stem("b_blocks_1_attn_cache_k", "buffer")
    'cache_k'
    >>> attribute_stem("c_lifted_tensor_0", "constant")
    'constant'
    """
    if "lifted_tensor" in name or (role == "constant" and not name.startswith("c_")):
        return "constant"
    bare = re.sub(r"^(?:p|b|c)_", "", name)
    if known := standard_suffix(bare):
        return known
    words = [word for word in bare.split("_") if word]
    while len(words) > 1 and (words[0].isdigit() or len(words) > 2):
        words = words[1:]
    stem = "_".join(word for word in words if not word.isdigit()) or role
    return stem if re.fullmatch(r"[a-z]\w*", stem) else role


def standard_suffix(name: str) -> str:
    """The end of the name that torch's own modules give, or "".

    >>> standard_suffix("p_blocks_0_running_mean"), standard_suffix("p_codes")
    ('running_mean', '')
    """
    found = _SUFFIX.search(name)
    return found[1] if found else ""


def operator_name(target: str) -> str:
    """The operator's bare name.

    >>> [operator_name(t) for t in ("aten.add_.Tensor", "operator:add", "higher_order.cond")]
    ['add_', 'add', 'cond']
    """
    if ":" in target:
        return target.rpartition(":")[2]
    parts = target.split(".")
    return parts[1] if len(parts) > 1 else target


_STEMS = {
    "sym_size": "size", "map_impl": "mapped", "scan": "result", "while_loop": "result",
    "cond": "result",
    "lift_fresh_copy": "constant", "wrap_with_set_grad_enabled": "result", "getitem": "item",
}  # fmt: skip


def value_stem(target: str) -> str:
    """A name for an operator's result.

    >>> [value_stem(f"aten.{name}.default") for name in ("linalg_norm", "_softmax", "relu_")]
    ['norm', 'softmax', 'relu']
    """
    name = operator_name(target)
    stem = re.sub(r"^(?:linalg|fft|special)_", "", _STEMS.get(name, name)).strip("_").lower()
    return stem if stem.isidentifier() else "value"
