"""Is a script run as a stranger would run it?"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from reducer.oracle.confirm import CleanInterpreter, confirm


def script(folder: Path, text: str) -> Path:
    path = folder / "repro.py"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "code", "meaning"),
    [
        ("import sys; assert sys.argv[1:] == ['--expect-failure']", 0, "the failure of record"),
        ("raise SystemExit(1)", 1, "it passes"),
        ("raise SystemExit(2)", 2, "something else"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", -9, "exit code -9"),
        ("assert __name__ == '__main__' and input() == ''", 1, "it passes"),  # EOFError
        ("this is not Python", 1, "it passes"),
    ],
)
def test_the_exit_code_is_read(tmp_path: Path, text: str, code: int, meaning: str) -> None:
    found = confirm(script(tmp_path, text))
    assert (found.code, found.meaning, found.ok) == (code, meaning, code == 0)


def test_what_runs_too_long_is_killed_with_all_that_it_started(tmp_path: Path) -> None:
    text = (
        "import os, subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "print(child.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    found = confirm(script(tmp_path, text), seconds=1)
    assert (found.code, found.meaning) == (None, "time limit")
    assert found.seconds < 30
    assert gone(int(found.output))


def test_its_folder_holds_the_data_and_nothing_of_ours(tmp_path: Path) -> None:
    (tmp_path / "repro.safetensors").write_text("numbers")
    text = (
        "import os, sys\n"
        "assert open('repro.safetensors').read() == 'numbers'\n"
        "assert sys.path[0] == os.getcwd() == os.path.dirname(__file__)\n"
        "assert not [name for name in sys.modules if name.startswith('reducer')]\n"
        "assert 'PYTHONPATH' not in os.environ\n"
    )
    assert confirm(script(tmp_path, text)).ok


def test_modules_are_imported_before_the_script_is_known(tmp_path: Path) -> None:
    with CleanInterpreter(sys.executable, ("json", "no.such.module")) as interpreter:
        run = interpreter.start(script(tmp_path, "import sys; assert 'json' in sys.modules"))
        assert run.wait().ok


def test_scripts_do_not_see_each_other(tmp_path: Path) -> None:
    with CleanInterpreter(sys.executable, ("json",)) as interpreter:
        hangs = interpreter.start(script(tmp_path, "import json, time; json.a = 1; time.sleep(60)"))
        other = interpreter.start(script(tmp_path, "import json; print(vars(json).get('a'))"))
        assert (other.wait().code, other.wait().output) == (0, "None\n")
        assert hangs.wait(0).meaning == "time limit"


def test_all_of_it_ends_with_its_context(tmp_path: Path) -> None:
    said = "import os; print(os.getpid(), flush=True); import time; time.sleep(60)"
    with CleanInterpreter(sys.executable, ("json",)) as interpreter:
        run = interpreter.start(script(tmp_path, said))
        while not run._said():
            time.sleep(0.01)
        pids = [interpreter._process.pid, int(run._said())]
    assert all(gone(pid) for pid in pids)


def test_an_interpreter_that_does_not_start_is_no_time_limit(tmp_path: Path) -> None:
    found = confirm(script(tmp_path, "pass"), python="/bin/false")
    assert found.meaning == "the interpreter ended before it ran"


def gone(pid: int) -> bool:
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z"
