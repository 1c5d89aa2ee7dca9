"""What happens when the user's Python file is run, as ``python file.py`` would?"""

from __future__ import annotations

import hashlib
import site
import sys
import sysconfig
import tokenize
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, ModuleType

import reducer
from reducer.lowering.errors import SubjectError, headline

_FORMATS = {
    ".pte": "a .pte is already lowered: hand in what it was made from",
    ".pth": "weights alone are no model: hand in the Python file that builds it",
    ".pt": "hand in the Python file that builds the model, or a .pt2 from torch.export.save",
    ".onnx": "hand in the PyTorch model, not its ONNX form",
    ".safetensors": "weights alone are no model: hand in the Python file that builds it",
    ".ipynb": "save the notebook as a script: jupyter nbconvert --to script",
}


def check_readable(path: Path, wanted: str) -> None:
    """Raises SubjectError unless ``path`` is a file with content; ``wanted`` names the kind."""
    if path.is_dir():
        raise SubjectError(f"{path} is a directory", hint=f"name {wanted} in it")
    if not path.exists():
        near = (
            sorted(item.name for item in path.parent.glob("*.py")) if path.parent.is_dir() else []
        )
        where = f"in {path.parent}: {', '.join(near[:5])}" if near else "check the path"
        raise SubjectError(f"{path} does not exist", hint=where)
    try:
        with path.open("rb") as file:
            first = file.read(1)
    except OSError as error:
        raise SubjectError(
            f"{path} cannot be read: {error.strerror}", hint="check its permissions"
        ) from error
    if not first:
        raise SubjectError(f"{path} is empty", hint=f"it should be {wanted}")


def compile_file(path: Path) -> CodeType:
    """The file's code. Raises SubjectError for what is not Python, with the line at fault."""
    check_readable(path, "a Python file")
    if path.suffix in _FORMATS:
        raise SubjectError(f"{path} is not a Python file", hint=_FORMATS[path.suffix])
    not_python = SubjectError(
        f"{path} is not a Python file",
        hint="hand in a .py file, a .pt2 from torch.export.save, or package.module:attribute",
    )
    try:
        if b"\0" in path.read_bytes():
            raise not_python
        with tokenize.open(path) as file:
            source = file.read()
        return compile(source, str(path.absolute()), "exec", dont_inherit=True)
    except SyntaxError as error:
        if error.lineno is None:
            raise not_python from error
        line = (error.text or "").strip()
        raise SubjectError(
            f"{path}:{error.lineno}: {type(error).__name__}: {error.msg}",
            hint=f"this line does not parse: {line}" if line else "fix the file first",
        ) from error
    except UnicodeDecodeError as error:
        raise not_python from error


def run(path: Path, argv: Sequence[str]) -> tuple[ModuleType, BaseException | None]:
    """Run the file as ``__main__``; the module it leaves, and the exception that ended it, if any.

    ``SystemExit`` counts as an ending, and so does KeyboardInterrupt: workers ignore Ctrl-C.
    """
    code = compile_file(path)
    module = ModuleType("__main__")
    module.__dict__.update(__file__=str(path.absolute()), __builtins__=__builtins__)
    with _as_main(module, path, argv):
        try:
            exec(code, module.__dict__)  # the user's own file, as asked
        except BaseException as error:
            return module, error
    return module, None


@contextmanager
def _as_main(module: ModuleType, path: Path, argv: Sequence[str]) -> Iterator[None]:
    """Give a module the surroundings of ``python path *argv``.

    What stays: the module is found under its name (dynamo, pickle and inspect look there), and its
    folder on the path, since functions of the file run and import later.
    """
    before = sys.argv
    sys.modules["__main__"] = module
    sys.path.insert(0, str(path.parent.resolve()))
    sys.argv = [str(path), *argv]
    try:
        yield
    finally:
        sys.argv = before


@contextmanager
def surroundings() -> Iterator[None]:
    """Put ``__main__``, the import path and the arguments back afterwards."""
    main, path, argv = sys.modules["__main__"], list(sys.path), sys.argv
    try:
        yield
    finally:
        sys.modules["__main__"], sys.argv = main, argv
        sys.path[:] = path


def raised(error: BaseException, doing: str) -> SubjectError:
    """What to tell a user whose own code raised: type, message and the line in their file."""
    where = user_line(error)
    hint = f"run it alone first: {where}" if where else "run it alone first"
    if isinstance(error, ModuleNotFoundError):
        hint = (
            f"install it for the interpreter in use: {sys.executable} -m pip install {error.name}"
        )
    if isinstance(error, SystemExit):
        return SubjectError(
            f"{doing} ends with sys.exit({error.code!r}){f' at {where}' if where else ''}",
            hint="arguments for the script go after `--`, if it is those that are missing",
        )
    at = f" at {where}" if where else ""
    return SubjectError(f"{doing} raises {headline(error)}{at}", hint=hint)


def user_line(error: BaseException) -> str:
    """``file:line`` of the innermost frame in the user's own code, or ""."""
    frames = traceback.extract_tb(error.__traceback__)
    found = [f"{frame.filename}:{frame.lineno}" for frame in frames if is_users(frame.filename)]
    return found[-1] if found else ""


def is_users(filename: str | None) -> bool:
    """Whether a source file is the user's, not the standard library's, a package's or ours."""
    if not filename or filename.startswith("<"):
        return False
    path = Path(filename).resolve()
    return path.suffix != ".so" and not any(path.is_relative_to(home) for home in _LIBRARIES)


def user_files(subject: Path | None, known: frozenset[str]) -> tuple[tuple[str, str], ...]:
    """(path, SHA-256) of the subject and of the user's modules loaded that are not in ``known``."""
    paths = {str(subject.resolve())} if subject is not None else set()
    paths |= {str(Path(filename).resolve()) for filename in user_modules(known).values()}
    return tuple((path, _digest(Path(path))) for path in sorted(paths) if Path(path).is_file())


def user_modules(known: frozenset[str]) -> dict[str, str]:
    """Names of the user's modules loaded that are not in ``known``, with their files."""
    found = {}
    for name, module in list(sys.modules.items()):
        filename = getattr(module, "__file__", None) if name not in known else None
        if isinstance(filename, str) and is_users(filename):
            found[name] = filename
    return found


def _digest(path: Path) -> str:
    found = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            found.update(block)
    return found.hexdigest()


def _libraries() -> frozenset[Path]:
    paths = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    paths += [*site.getsitepackages(), site.getusersitepackages()]
    package = Path(str(reducer.__path__[0])).resolve()
    return frozenset({package, *(Path(path).resolve() for path in paths if path)})


_LIBRARIES = _libraries()
