"""What must not leave this machine, and what stands in its place?

A report is pasted where everybody reads it. Whatever says who ran this, where, or on which model goes:
folders, users, hosts, addresses, keys, values of tensors, and the words of the user's own code. What says
where a library failed stays.
"""

from __future__ import annotations

import getpass
import re
import socket
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from reducer.core.case import Case
from reducer.core.diagnosis import INVARIANTS
from reducer.core.signature import Frame, Signature, is_library
from reducer.core.wire import Environment

T = TypeVar("T")

#: The script that a report is about: a traceback may name it.
_OURS = ("repro.py", "repro_pass.py", "test_repro.py")

#: Words that say nothing about anybody: names of accounts and machines, of modules and their parts.
_COMMON = frozenset(
    """root user users admin administrator test tester guest home runner ubuntu debian docker nobody
    localhost localdomain host main work torch model models module modules net network layer layers
    block blocks stage stages stem trunk backbone neck head heads encoder encoders decoder decoders
    embed embeds embedding embeddings embedder token tokens position positions positional patch
    patches proj projection projector linear lin dense fc mlp ffn feed forward gate gates up down conv
    convs convolution depthwise pointwise pool pooling pooler norm norms normalization layernorm
    batchnorm bn ln gn rms act activation relu gelu silu sigmoid softmax tanh dropout drop attn
    attention self cross query key value queries keys values qkv kv out output outputs in input inputs
    weight weights bias biases scale shift gamma beta mean var running buffer cache mask masks final
    first last pre post res residual shortcut downsample upsample sample class classes classifier
    logits features feature hidden state states size dim image images pixel pixels text audio vision
    language rotary rope freq freqs sin cos lstm gru rnn cell seq sequential sequence list dict item
    items add mul div sub cat sum abs index ids id type types name names data batch num bat tracked
    a an the of and or to for with by on at is it no not none true false x y z""".split()
)

_SECRETS = (
    (r"-----BEGIN [A-Z ]+-----[\s\S]*?(?:-----END [A-Z ]+-----|\Z)", "<token>"),
    (r"\b(?:hf_|gh[pousr]_|github_pat_|glpat-|npm_|pypi-|xox[abeoprs]-|sk-|rk_live_|sk_live_)"
     r"[A-Za-z0-9_-]{8,}", "<token>"),
    (r"\b(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{12,}\b", "<token>"),
    (r"\bAIza[\w-]{20,}", "<token>"),
    (r"\beyJ[\w-]{8,}(?:\.[\w-]+){1,2}", "<token>"),
    (r"(?i)\b(bearer|basic)\s+[\w.~+/=-]{8,}", r"\1 <token>"),
    (r"(?i)\b(\w*(?:token|secret|passw(?:or)?d|passphrase|api_?key|access_?key|credentials?))"
     r"(['\"]?\s*[=:]\s*['\"]?)(?!<)[\w.~+/=@:-]{6,}", r"\1\2<token>"),
)  # fmt: skip

_URL = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s\"'<>`]+", re.IGNORECASE)
_PUBLIC = re.compile(
    r"https?://(?:[\w-]+\.)*(?:pytorch\.org|github\.com/pytorch/\S*|python\.org)\b"
)
_ADDRESS = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)*(?![\w(])")
_HOST = re.compile(
    r"\b(?!(?:torch|executorch|threading|_)\b)[A-Za-z][\w-]*(?:\.[\w-]+)*"
    r"\.(?:local|localdomain|internal|intranet|corp|lan)\b(?!\()"
    r"|(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.])"
)
_NAME = r"[\w.+@~$%&=,-]"
_PATH = re.compile(
    r"(?P<quote>[\"'`])(?P<quoted>(?:file:)?(?:~[\w.-]*|[A-Za-z]:)?(?:[\\/]+[^\\/\"'`\n]+){2,}[\\/]?)(?P=quote)"
    rf"|(?<![\w</.\]\)])(?P<bare>~[\w.-]*(?:[\\/]{_NAME}+)+[\\/]?|[A-Za-z]:(?:[\\/]+{_NAME}+)+[\\/]?"
    rf"|\\\\{_NAME}+(?:\\{_NAME}+)+|(?:/{_NAME}+){{2,}}/?|(?!torch/|executorch/)(?:[\w-][\w.-]*/)+[\w.-]+"
    r"\.(?:py|pt2?|pth|pte|ckpt|bin|safetensors|json|ya?ml|onnx|txt|npy|npz|h5)\b)"
)
#: Where the part of a path begins that is the same on every machine.
_INSTALLED = re.compile(
    r".*[\\/](?:(?:site|dist)-packages|lib[\\/]python3\.\d+)(?=[\\/])"
    r"|.*[\\/](?=executorch[\\/](?:exir|backends|extension|devtools|kernels|runtime)[\\/])"
)
_CODE_LINE = re.compile(
    r"(?P<place>File [\"']<path>[\"'], line \d+), in \S*[^\n]*(?:\n(?![ \t]*File )[ \t]+[^\n]*)*"
)
_NUMBER = r"[-+]?(?:\d+\.\d*|\.\d+)(?:[eE][-+]?\d+)?"
_VALUES = (
    (r"\bvalues=\((?!<)[^)]*\)", "values=(<values>)"),
    (r"\b(tensor|array|Parameter)\((?!<)[^()]*(?:\([^()]*\)[^()]*)*\)", r"\1(<values>)"),
    (rf"[\[(]\s*{_NUMBER}(?:\s*,\s*{_NUMBER})+[^\])]*[\])]", "[<values>]"),
)  # fmt: skip


@dataclass(frozen=True)
class Scrubber:
    """Takes out of text what is private.

    ``names`` maps words to what stands for them; ``words`` are further ones of the user's code;
    ``people`` maps names of accounts and machines. ``keep``: files and words of the user's code stay,
    all else goes.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    words: frozenset[str] = frozenset()
    people: Mapping[str, str] = field(default_factory=dict)
    keep: bool = False

    def text(self, text: str) -> str:
        """The text without anything private; the same again if it has been scrubbed before.

        >>> Scrubber(words=frozenset(["vault"])).text("in /home/ann/m.py: vault.proj of bob@corp.com")
        'in <path>: <name>.proj of <address>'
        >>> Scrubber().text('File "/opt/v/lib/python3.11/site-packages/torch/fx/node.py", line 3')
        'File ".../torch/fx/node.py", line 3'
        """
        for pattern, instead in _SECRETS:
            text = re.sub(pattern, instead, text)
        text = _URL.sub(lambda found: found[0] if _PUBLIC.match(found[0]) else "<url>", text)
        text = _PATH.sub(self._path, text)
        text = _ADDRESS.sub("<address>", text)
        text = _HOST.sub("<host>", text)
        if not self.keep:
            text = _CODE_LINE.sub(r"\g<place>", text)
        for pattern, instead in _VALUES:
            text = re.sub(pattern, instead, text)
        return self._word.sub(self._instead, text) if self._table else text

    def noun(self, noun: T) -> T:
        """The noun with all of its texts scrubbed. Cases keep theirs: their names are made plain."""
        return self._scrubbed(noun)  # type: ignore[no-any-return]

    def _scrubbed(self, value: Any) -> Any:
        if type(value) is str:  # a stage and a verdict are str as well
            return self.text(value)
        if isinstance(value, tuple):
            return tuple(self._scrubbed(item) for item in value)
        if isinstance(value, Case | Environment) or not is_dataclass(value):
            return value
        if isinstance(value, Frame):
            return value if is_library(value.module) else self._frame(value)
        if isinstance(value, Signature):
            module, _, function = value.raised_in.partition(":")
            frame = self._frame(Frame(module, function))
            where = value.raised_in if is_library(module) else f"{frame.module}:{frame.function}"
            return replace(value, raised_in=where, message=self.text(value.message))
        if type(value).__module__.endswith(".recipe"):
            return value
        changed = {item.name: self._scrubbed(getattr(value, item.name)) for item in fields(value)}
        return replace(value, **changed)  # type: ignore[type-var]

    def _frame(self, frame: Frame) -> Frame:
        """A frame outside the libraries: whose function it is says as much as its module."""
        if self.keep or not frame.module:
            return frame
        return replace(frame, module="<module>", function="<function>")

    def _path(self, found: re.Match[str]) -> str:
        path = found["quoted"] or found["bare"]
        quote = found["quote"] or ""
        if quote and path.count("/") + path.count("\\") < 2:
            return found[0]
        name = re.split(r"[\\/]", path.rstrip("\\/"))[-1]
        if installed := _INSTALLED.match(path):
            rest = path[installed.end() :].replace("\\", "/").lstrip("/")
            return f"{quote}.../{rest}{quote}"
        if name in _OURS:
            return f"{quote}{name}{quote}"
        return f"{quote}.../{name}{quote}" if self.keep else f"{quote}<path>{quote}"

    @cached_property
    def _table(self) -> dict[str, str]:
        table = dict(self.people)
        if not self.keep:
            table |= {word: "<name>" for word in self.words if is_telling(word)}
        return table | dict(self.names)

    @cached_property
    def _word(self) -> re.Pattern[str]:
        listed = "|".join(re.escape(word) for word in sorted(self._table, key=len, reverse=True))
        library = r"(?:torch|executorch|torchao|aten|functools)(?:\.\w+)+(?::[\w.]+)?"
        library = "|".join([library, *INVARIANTS])
        return re.compile(rf"(?<![\w<])(?:(?P<library>{library})|(?P<word>{listed}))(?!\w)")

    def _instead(self, found: re.Match[str]) -> str:
        return found[0] if found["library"] else self._table[found["word"]]


def is_telling(word: str) -> bool:
    """Whether a word of somebody's code may say whose it is, or what it is about.

    >>> [is_telling(word) for word in ("conv1", "secret_attn", "layer_norm", "fc", "SecretNet")]
    [False, True, False, False, True]
    """
    parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", word)
    return any(len(part) > 1 and part.lower() not in _COMMON for part in parts)


def people_here() -> dict[str, str]:
    """Names of the account and the machine that this runs on, with what stands for them."""
    return {name: "<user>" for name in _accounts() if is_telling(name) and len(name) > 2} | {
        name: "<host>" for name in _hosts() if is_telling(name) and len(name) > 2
    }


def _accounts() -> Iterable[str]:
    with suppress(OSError, KeyError, ImportError):
        yield getpass.getuser()
    with suppress(OSError, RuntimeError):
        yield Path.home().name


def _hosts() -> Iterable[str]:
    name = socket.gethostname()
    yield name
    yield name.partition(".")[0]
