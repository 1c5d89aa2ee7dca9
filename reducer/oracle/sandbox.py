"""How does a stranger's script run so that it touches nothing outside its scratch folder?

Run as a program (``python sandbox.py SCRATCH PYTHON ...``) it gives up what the kernel lets it give
up, and becomes that command: no network and a read-only view of all mounts (namespaces; needs root or
unprivileged user namespaces), no writing outside the scratch folder, no reading in the home folder, no
signals to others (landlock; needs Linux 5.13), no capabilities. The standard library is all it needs.

Sources: https://docs.kernel.org/userspace-api/landlock.html, ``man 2 mount_setattr``, ``man 7
user_namespaces``.
"""

from __future__ import annotations

import ctypes
import functools
import os
import resource
import signal
import struct
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

_NEW_MOUNTS, _NEW_USER, _NEW_NETWORK = 0x00020000, 0x10000000, 0x40000000
_BIND, _RECURSIVE, _PRIVATE = 4096, 16384, 1 << 18
_MOUNT_SETATTR, _AT_FDCWD, _AT_RECURSIVE, _READ_ONLY = 442, -100, 0x8000, 1
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_DIE_WITH_PARENT, _NO_NEW_PRIVILEGES, _DROP_CAPABILITY = 1, 38, 24

#: Rights of landlock on files, by the version of it that knows them: bits 0 to 15.
_RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
_READ = 0b1101  # execute, read a file, list a folder
_WRITE = 0b10
_ON_FILES = 0b1100000000000111

#: Bytes of one file that the script may write.
_LARGEST = 2**30

FILES, NETWORK, HOME = "files", "network", "home"
_LIBC = ctypes.CDLL(None, use_errno=True)


def wrap(scratch: Path) -> list[str]:
    """What goes in front of an interpreter's command so that it runs confined to ``scratch``.

    Its home and its temporary files are there as well.
    """
    return [sys.executable, "-I", "-S", __file__, str(scratch.resolve())]


@functools.cache
def kept_away() -> frozenset[str]:
    """From what a script is kept away on this machine: of files, network, home."""
    if not sys.platform.startswith("linux"):
        return frozenset()
    command = [sys.executable, "-I", "-S", __file__]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return frozenset(said.split()) & {FILES, NETWORK, HOME}


def warning() -> str:
    """What a script can still reach, in a sentence; "" if nothing."""
    missing = [name for name in (FILES, NETWORK, HOME) if name not in kept_away()]
    if not missing:
        return ""
    return (
        f"this system cannot keep scripts away from: {', '.join(missing)} (it has neither landlock"
        " nor namespaces for it); check only a corpus that you trust"
    )


def confine(scratch: Path | None, readable: Sequence[str] = ()) -> list[str]:
    """Give up what can be given up, for good; returns from what this process is kept away now.

    ``readable`` are folders that may be read even where they are in the home folder.
    """
    home, here = Path.home().resolve(), Path.cwd()
    resource.setrlimit(resource.RLIMIT_FSIZE, (_LARGEST, _LARGEST))
    mounts, network = _namespaces(scratch)
    os.chdir(here)  # by its name: it may be in the scratch folder, which is a mount of its own now
    _LIBC.prctl(_DIE_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
    _LIBC.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    landlocked = _landlock(scratch, [*_outside(home), *_within(home, readable)])
    for capability in range(64):
        _LIBC.prctl(_DROP_CAPABILITY, capability, 0, 0, 0)
    held = {FILES: mounts or landlocked, NETWORK: network, HOME: landlocked}
    return [name for name, holds in held.items() if holds]


def _namespaces(scratch: Path | None) -> tuple[bool, bool]:
    """Own mounts, all read-only but the scratch folder, and a network without anybody."""
    user, group = os.getuid(), os.getgid()
    if _LIBC.unshare(_NEW_NETWORK | _NEW_MOUNTS):
        if _LIBC.unshare(_NEW_USER | _NEW_NETWORK | _NEW_MOUNTS):
            return False, False
        with suppress(OSError):
            Path("/proc/self/setgroups").write_text("deny")
            Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
            Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    if _LIBC.mount(b"none", b"/", None, _RECURSIVE | _PRIVATE, None):
        return False, True
    place = os.fsencode(scratch) if scratch else b""
    if place and _LIBC.mount(place, place, None, _BIND, None):
        return False, True
    done = _set_mount(b"/", _AT_RECURSIVE, _READ_ONLY, 0)
    done = done and (not place or _set_mount(place, 0, 0, _READ_ONLY))
    return done, True


def _set_mount(path: bytes, flags: int, add: int, remove: int) -> bool:
    attributes = struct.pack("QQQQ", add, remove, 0, 0)
    size = ctypes.c_size_t(len(attributes))
    return not _LIBC.syscall(_MOUNT_SETATTR, _AT_FDCWD, path, flags, attributes, size)


def _landlock(scratch: Path | None, readable: Iterable[Path]) -> bool:
    version = _LIBC.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), 1)
    if version < 1:
        return False
    rights = max(bits for since, bits in _RIGHTS.items() if since <= version)
    # files, then (since 4) TCP, then (since 6) sockets without a file and signals
    parts = (rights, *([0b11] if version >= 4 else []), *([0b11] if version >= 6 else []))
    attributes = struct.pack(f"{len(parts)}Q", *parts)
    ruleset = _LIBC.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0)
    if ruleset < 0:
        return False
    if scratch is not None:
        _allow(ruleset, scratch, rights)
    _allow(ruleset, Path(os.devnull), (_READ | _WRITE | 1 << 14) & rights)
    for path in readable:
        _allow(ruleset, path, _READ)
    return not _LIBC.syscall(_RESTRICT_SELF, ruleset, 0)


def _allow(ruleset: int, path: Path, rights: int) -> None:
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is not there cannot be reached
    if not path.is_dir():
        rights &= _ON_FILES
    _LIBC.syscall(_ADD_RULE, ruleset, 1, struct.pack("=Qi", rights, handle), 0)
    os.close(handle)


def _outside(home: Path) -> Iterator[Path]:
    """What is in the folders above the home folder, but for the way to it; all if it has none above."""
    if home == home.parent:
        yield home
    for folder, below in zip(home.parents, (home, *home.parents), strict=False):
        with suppress(OSError):
            yield from (path for path in folder.iterdir() if path != below)


def _within(home: Path, readable: Sequence[str]) -> Iterator[Path]:
    """Of these, what is in the home folder and not all of it."""
    for path in map(Path, readable):
        if path.is_absolute() and path.resolve() not in (home, *home.parents):
            yield path.resolve()


def _imports_from(python: str) -> list[str]:
    """Where an interpreter is, and where it looks for modules."""
    ask = "import sys; print(sys.prefix, sys.base_prefix, sys.executable, *sys.path, sep=chr(10))"
    said = subprocess.run([python, "-c", ask], capture_output=True, text=True, check=False).stdout
    return [line for line in said.splitlines() if line]


def main() -> None:
    """Confine this process and become the command; without one say what holds."""
    if len(sys.argv) == 1:
        print(*confine(None))
        return
    scratch, command = sys.argv[1], sys.argv[2:]
    package = str(Path(__file__).resolve().parents[1])  # a worker brings its own code along
    confine(Path(scratch), [*_imports_from(command[0]), package])
    places = dict.fromkeys(("HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"), scratch)
    os.execve(command[0], command, {**os.environ, **places})


if __name__ == "__main__":
    main()
