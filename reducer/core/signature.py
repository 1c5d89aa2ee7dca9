"""When are two failures the same one?

The worker turns an exception into a :class:`Failure`: plain facts. :func:`signature_of` keeps what
identifies it: stage, types along the chain of causes, the innermost raise site inside a library, a
normalised message, the compiler pass. Addresses, node names, shapes, symbols, numbers, paths and
line numbers never count.

What counts as equal is a :class:`MatchRule`. Sources: the "origin" of Hypothesis (exception type,
raise site, chained causes) and the message parameterisation of Sentry.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, replace

from reducer.core.kind import Kind
from reducer.core.stage import Stage

#: Version of the rules below; it is part of stored signatures and of the verdict store's keys.
SIGNATURE_VERSION = 2

#: A mismatch of at least this many tolerances is no rounding; a reduction stays above it.
CLEAR_EXCESS = 100.0


@dataclass(frozen=True)
class Frame:
    """One frame of a traceback: importable module, function, line."""

    module: str
    function: str
    line: int = 0


@dataclass(frozen=True)
class ChainLink:
    """One exception of a chain: its qualified type, its message, its frames from outer to inner."""

    type: str
    message: str
    frames: tuple[Frame, ...] = ()


@dataclass(frozen=True)
class Failure:
    """What the worker saw when lowering raised, or when it died.

    ``chain`` runs from the exception that the user sees to its innermost cause; what the runtime
    logged is the last link. ``passes`` are the compiler passes on the stack, outer to inner (class
    names). ``allowed`` is what it should have kept within: the seconds of a hang, the bytes of memory,
    the difference of numbers; ``excess``: of wrong numbers, how many times that they differ by.
    """

    stage: Stage
    chain: tuple[ChainLink, ...]
    passes: tuple[str, ...] = ()
    kind: Kind = Kind.RAISES
    allowed: float = 0.0
    excess: float = 0.0

    @property
    def headline(self) -> str:
        """Type and first line of what the user sees, shortened to one line."""
        if self.kind is Kind.WRONG:
            way, *numbers = self.chain[0].message.splitlines()
            return _headline(replace(self.chain[0], message=": ".join([way, *numbers])))
        return _headline(self.chain[0])

    @property
    def cause(self) -> str:
        """Type and first line of the innermost cause."""
        return _headline(self.chain[-1])


@dataclass(frozen=True)
class Signature:
    """What makes two failures the same one.

    ``types`` are exception types along the chain; ``raised_in`` is ``module:function``; ``message``
    is the normalised message of the innermost cause; ``compiler_pass`` the pass that was running.
    ``least_excess``: numbers that differ by fewer tolerances are another matter (rounding).
    """

    stage: Stage
    types: tuple[str, ...]
    raised_in: str
    message: str
    compiler_pass: str = ""
    least_excess: float = 0.0
    version: int = SIGNATURE_VERSION


@dataclass(frozen=True)
class MatchRule:
    """How strictly signatures are compared.

    ``level``
        ``exact``: all parts; two bugs behind one pass wrapper are told apart.
        ``raise-site``: stage, types and raise site; ``type``: stage and types.
    ``regex``
        if given, instead of a level: some message of the chain matches it, in the same stage.
    """

    level: str = "exact"
    regex: str = ""

    def same(self, wanted: Signature, failure: Failure) -> bool:
        """Whether ``failure`` counts as the wanted one."""
        if failure.excess < wanted.least_excess:
            return False
        if self.regex:
            pattern = re.compile(self.regex)
            return failure.stage is wanted.stage and any(
                pattern.search(link.message) for link in failure.chain
            )
        found = signature_of(failure)
        if (found.stage, found.types) != (wanted.stage, wanted.types):
            return False
        if self.level == "type":
            return True
        if self.level == "raise-site":
            return found.raised_in == wanted.raised_in
        if failure.kind is Kind.WRONG and found.message.startswith(wanted.message):
            found = replace(
                found, message=wanted.message
            )  # wrong in that way, and in a special one
        return replace(found, least_excess=wanted.least_excess) == wanted


MATCH_LEVELS = ("exact", "raise-site", "type")


def signature_of(failure: Failure) -> Signature:
    """The signature of a failure; see the module's docstring."""
    cause = failure.chain[-1]
    named = _PASS_WRAPPER.search(failure.chain[0].message)
    compiler_pass = failure.passes[-1] if failure.passes else (named[1] if named else "")
    return Signature(
        stage=failure.stage,
        types=tuple(link.type for link in failure.chain),
        raised_in=raise_site(cause),
        message=normalise_message(_identifying(failure)),
        compiler_pass=compiler_pass,
        least_excess=CLEAR_EXCESS if failure.excess >= CLEAR_EXCESS else 0.0,
    )


def _identifying(failure: Failure) -> str:
    """What of the innermost cause's message tells it from others: of wrong numbers, the way."""
    message = failure.chain[-1].message
    return message.splitlines()[0] if failure.kind is Kind.WRONG and message else message


def named_pass(failure: Failure) -> str:
    """The pass that the message shown to the user blames, or ""."""
    for link in failure.chain:
        if found := _PASS_WRAPPER.search(link.message):
            return found[1]
    return ""


def raise_site(link: ChainLink) -> str:
    """``module:function`` of the innermost frame inside a library; of the innermost frame if none is.

    Frames of torch's dispatcher are stepped over: which of its functions is innermost depends on
    how an operator was called, not on what is wrong.
    """
    inside = [frame for frame in link.frames if frame.module.split(".")[0] in _LIBRARIES]
    telling = [frame for frame in inside if not frame.module.startswith(_DISPATCH)]
    for frames in (telling, inside, link.frames):
        if frames:
            return f"{frames[-1].module}:{frames[-1].function}"
    return ""


def is_library(module: str) -> bool:
    """Whether a module is Python's, or of a library that everybody has.

    >>> is_library("torch.fx.node"), is_library("functools"), is_library("__main__")
    (True, True, False)
    """
    root = module.partition(".")[0]
    return root in _LIBRARIES or root in _ALONGSIDE or root in sys.stdlib_module_names


def without_explanations(message: str) -> str:
    """The message without the long explanations that torch appends to it.

    >>> without_explanations("no such size\\n\\nWhile executing %add : [num_users=1]")
    'no such size'
    """
    for tail in _TAILS:
        message = re.split(tail, message, maxsplit=1)[0]
    return message


def normalise_message(message: str) -> str:
    """The message without what differs between two occurrences of one fault. At most 400 characters.

    >>> normalise_message("Expected p_stem_weight to be NCHW, got [1, 8, 24] (u21 < 0)")
    'Expected <node> to be NCHW, got <shape> (<symbol> < <n>)'
    """
    text = without_explanations(message)
    for pattern, replacement in _REPLACEMENTS:
        text = re.sub(pattern, replacement, text)
    text = _SET.sub(lambda found: f"{{{', '.join(sorted(found[1].split(', ')))}}}", text)
    return " ".join(text.split())[:400]


def _headline(link: ChainLink) -> str:
    first = next((line.strip() for line in link.message.splitlines() if line.strip()), "")
    first = re.sub(r"<([\w.]+) object at 0x[0-9a-f]+>", r"<\1>", first)
    name = link.type.rpartition(".")[2]
    text = f"{name}: {first}" if first else name
    return text if len(text) <= 300 else text[:297] + "..."


_LIBRARIES = frozenset({"torch", "executorch", "torchao", "torchgen", "sympy", "coremltools"})
_ALONGSIDE = frozenset(
    {"numpy", "transformers", "torchvision", "torchaudio", "timm", "safetensors"}
)
_DISPATCH = ("torch._ops", "torch.utils._stats", "torch._library", "torch.fx.interpreter")
_PASS_WRAPPER = re.compile(r"An error occurred when running the '([^']+)' pass")

# Long explanations that torch and torch.fx append: a dump of the graph, where user code was, advice.
_TAILS = (
    r"\n\s*While executing ",
    r"\n\s*Original traceback:",
    r"\n\s*stack trace: ",
    r"\n\s*consider using data-dependent friendly APIs",
    r"\n\s*Caused by: ",
    r"\n\s*For more information, run with",
    r"\n\s*Here is the node in the graph module",
    r"\n\s*graph\(\):",
    r"\n\s*fake mode from fake tensor input \d+ allocated at",
    r"\n\s*The following call raised this error",
)

# A set of names: printed in another order by each process.
_SET = re.compile(r"\{('[^'{}]*'(?:, '[^'{}]*')+)\}")
_NUMBER = r"[-+]?(?:\d+\.\d*(?:[eE][-+]?\d+)?|\.\d+|\d+(?:[eE][-+]?\d+)?|nan\b|inf\b)"
_REPLACEMENTS = (
    (r"after the following passes: \[[^\]]*\]", "after the following passes: <passes>"),
    (r"\x1b\[[0-9;]*m", ""),
    (r"0x[0-9a-fA-F]+", "<address>"),
    (r"\b(?:tensor|Parameter)\([^()]*(?:\([^()]*\)[^()]*)*\)", "<tensor>"),
    (r"(?:[A-Za-z]:|\.\.\.)?(?:/[\w.+@~-]+){2,}(?::\d+)?", "<path>"),
    (r"torch\.Size\(\[[^\]]*\]\)", "<shape>"),
    (r"[\[(]\s*(?:[su]?\d+\s*,\s*)+(?:[su]?\d+)?\s*[\])]", "<shape>"),
    (r"%[A-Za-z_]\w*", "<node>"),
    (r"\b(?:p|b|c|obj)_[a-z]\w*", "<node>"),
    (r"\b(?:_lifted_tensor_constant|lifted_tensor_|_tensor_constant)\d*\b", "<node>"),
    (r"\b(?:fused_tag|lowered_module_)\d*\b", "<node>"),
    (r"\btag\d+\b", "<tag>"),
    (r"\b[suz]\d+\b", "<symbol>"),
    (r"\b((?:aten|getitem|quantized_decomposed|dim_order_ops)_\w*?)_\d+\b", r"\1"),
    (r"'[^'\s]*__main__\.[^'\s]*'", "<user class>"),
    (r"(?<![\w.])" + _NUMBER + r"(?![\w])", "<n>"),
)  # fmt: skip
