"""Is whatever a job does to its process one answer, and never the end of the worker?"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from reducer.core.case import Case, Graph, Input, Node, Ref, TensorSpec
from reducer.core.errors import NoEnvironment, WorkerDied
from reducer.core.recipe import Recipe
from reducer.core.stage import Stage
from reducer.core.wire import (
    Attempt,
    Broken,
    Capture,
    CaptureJob,
    Death,
    JudgeJob,
    Limits,
    Refused,
    Result,
    Spelled,
    SpellJob,
)
from reducer.oracle.worker import Worker

pytestmark = pytest.mark.torch
ROOT = str(Path(__file__).parents[2])
LIMITS = Limits(120.0)
SCHEMA = "aten::sin(Tensor self) -> Tensor"


def case() -> Case:
    given = Input("x", "input", TensorSpec((2,), "float32"))
    node = Node("n", "aten.sin.default", (Ref("x"),))
    graph = Graph((given,), (node,), (Ref("n"),))
    return Case(graph, Recipe(), schemas={"aten.sin.default": SCHEMA})


@pytest.fixture
def plant(warm_worker: Worker, tmp_path: Path) -> Iterator[Callable[..., Result]]:
    """Capture a file that does this when it is imported; afterwards the worker must still answer."""

    def run(source: str, limits: Limits = LIMITS) -> Result:
        path = tmp_path / "subject.py"
        path.write_text(dedent(source))
        return warm_worker.run(
            CaptureJob(str(path), str(tmp_path / "data"), "portable"), limits
        ).result

    yield run
    healthy(warm_worker, tmp_path)


def healthy(worker: Worker, folder: Path) -> None:
    result = worker.run(JudgeJob(case(), str(folder)), LIMITS).result
    assert isinstance(result, Attempt)
    assert (result.failure, result.invalid) == (None, "")


def alive(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


def until(condition: Callable[[], bool], seconds: float = 60.0) -> bool:
    """Whether it holds before long: for what happens in other processes."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def test_an_ordinary_job_is_answered_with_its_seconds(warm_worker: Worker, tmp_path: Path) -> None:
    answer = warm_worker.run(JudgeJob(case(), str(tmp_path)), LIMITS)
    assert isinstance(answer.result, Attempt)
    assert dict(answer.result.seconds).keys() >= {"export", "to_edge"}
    assert answer.seconds > 0


def test_it_says_what_it_runs_on(warm_worker: Worker) -> None:
    here = warm_worker.environment
    assert here.torch
    assert here.executorch
    assert here.python == ".".join(map(str, sys.version_info[:3]))
    assert here.accelerations  # each names itself, and says "on" or why not
    assert {state for _, state in here.accelerations} == {"on"}


@pytest.mark.parametrize("name", ["SIGSEGV", "SIGABRT", "SIGKILL", "SIGBUS"])
def test_a_signal_is_told_by_name(name: str, plant: Callable[..., Result]) -> None:
    result = plant(
        f"import os, signal\nprint('before', flush=True)\nos.kill(os.getpid(), signal.{name})"
    )
    assert isinstance(result, Death)
    assert (result.kind, result.detail, result.stage) == ("signal", name, Stage.LOAD)
    assert "before" in result.output


def test_a_null_pointer_in_native_code_is_a_signal(plant: Callable[..., Result]) -> None:
    result = plant("import ctypes\nctypes.string_at(0)")
    assert isinstance(result, Death)
    assert (result.kind, result.detail) == ("signal", "SIGSEGV")


@pytest.mark.parametrize("code", [0, 3, 70])
def test_a_process_that_ends_itself_is_told_by_its_code(
    code: int, plant: Callable[..., Result]
) -> None:
    result = plant(f"import os\nos._exit({code})")
    assert isinstance(result, Death)
    assert (result.kind, result.detail, result.stage) == ("exit", str(code), Stage.LOAD)


@pytest.mark.parametrize(
    "source",
    [
        "while True: pass",
        "import time\ntime.sleep(600)",
        "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\ntime.sleep(600)",
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
    ],
    ids=["busy", "asleep", "deaf", "catches all"],
)
def test_an_endless_job_ends_at_its_limit(source: str, plant: Callable[..., Result]) -> None:
    result = plant(source, Limits(1.5))
    assert isinstance(result, Death)
    assert (result.kind, result.detail, result.stage) == ("timeout", "1.5 s", Stage.LOAD)


def test_a_job_that_eats_memory_ends_at_its_limit(plant: Callable[..., Result]) -> None:
    result = plant(
        """
        import time
        eaten = []
        while True:
            eaten.append(bytearray(b"x") * (16 << 20))
            time.sleep(0.02)
        """,
        Limits(120.0, memory=1 << 30),
    )
    assert isinstance(result, Death)
    assert (result.kind, result.detail) == ("memory", "1024 MiB")


def test_a_job_within_its_memory_is_left_alone(warm_worker: Worker, tmp_path: Path) -> None:
    """What it shares with the worker is not its own: torch alone is larger than this."""
    result = warm_worker.run(
        JudgeJob(case(), str(tmp_path)), Limits(120.0, memory=200 << 20)
    ).result
    assert isinstance(result, Attempt)


def test_a_flood_of_output_is_drained_and_its_end_kept(plant: Callable[..., Result]) -> None:
    result = plant(
        """
        import os, sys
        for stream in (1, 2):
            for _ in range(4000):
                os.write(stream, b"flood " * 1000)
        os.write(1, b"the last words")
        os._exit(3)
        """
    )
    assert isinstance(result, Death)
    assert result.kind == "exit"
    assert result.output.endswith("the last words")
    assert len(result.output) <= 16_384


def test_the_log_takes_only_so_much_of_a_flood(
    plant: Callable[..., Result], warm_worker: Worker
) -> None:
    before = warm_worker.log.stat().st_size
    plant("import os\nfor _ in range(4000): os.write(1, b'flood ' * 1000)")
    assert 0 < warm_worker.log.stat().st_size - before < 3 << 20


def test_the_traceback_of_a_bug_is_in_the_log(warm_worker: Worker) -> None:
    result = warm_worker.run(Limits(), LIMITS).result  # type: ignore[arg-type]  which is no job
    assert isinstance(result, Broken)
    assert "TypeError: unknown job Limits" in result.traceback
    assert result.traceback in warm_worker.log.read_text()


def test_output_that_is_no_text_does_no_harm(plant: Callable[..., Result]) -> None:
    result = plant("import os\nos.write(1, bytes(range(256)))\nos._exit(4)")
    assert isinstance(result, Death)
    assert result.detail == "4"


@pytest.mark.parametrize("then", ["os._exit(5)", "os.kill(os.getpid(), 11)"])
def test_a_grandchild_that_holds_the_pipes_is_not_waited_for(
    then: str, plant: Callable[..., Result], tmp_path: Path
) -> None:
    result = plant(
        f"""
        import os, subprocess
        pid = subprocess.Popen(["sleep", "600"]).pid
        open({str(tmp_path / "pid")!r}, "w").write(str(pid))
        {then}
        """
    )
    assert isinstance(result, Death)
    assert result.detail in ("5", "SIGSEGV")
    pid = int((tmp_path / "pid").read_text())
    assert until(lambda: not alive(pid))


def test_a_grandchild_of_a_job_that_is_answered_ends_with_it(
    plant: Callable[..., Result], tmp_path: Path
) -> None:
    result = plant(
        f"""
        import subprocess, torch
        pid = subprocess.Popen(["sleep", "600"]).pid
        open({str(tmp_path / "pid")!r}, "w").write(str(pid))
        model = torch.nn.ReLU()
        example_inputs = (torch.ones(2),)
        """
    )
    assert isinstance(result, Capture)
    pid = int((tmp_path / "pid").read_text())
    assert until(lambda: not alive(pid))


def test_a_subject_that_forks_and_goes_on_twice_does_not_end_the_worker(
    plant: Callable[..., Result],
) -> None:
    result = plant(
        """
        import os, torch
        child = os.fork()
        if child:
            os.waitpid(child, 0)
        model = torch.nn.ReLU()
        example_inputs = (torch.ones(2),)
        """
    )
    assert isinstance(result, Death | Capture)


def test_closed_and_redirected_streams_do_no_harm(plant: Callable[..., Result]) -> None:
    result = plant(
        "import os, sys\nos.close(0); os.close(1); os.close(2)\nsys.stdout = None\nx = 1"
    )
    assert isinstance(result, Refused)


def test_an_exit_of_the_subject_is_a_message_to_the_user(plant: Callable[..., Result]) -> None:
    result = plant("import sys\nsys.exit(3)")
    assert isinstance(result, Refused)
    assert "sys.exit(3)" in result.message


def test_what_a_job_changes_is_gone_in_the_next(warm_worker: Worker, tmp_path: Path) -> None:
    (tmp_path / "vandal.py").write_text(
        "import os, torch, executorch.exir\nos.environ['VANDAL'] = '1'\nos.chdir('/')\n"
        "torch.export.export = None\ndel executorch.exir.to_edge\nos._exit(9)\n"
    )
    job = CaptureJob(str(tmp_path / "vandal.py"), str(tmp_path), "portable")
    assert isinstance(warm_worker.run(job, LIMITS).result, Death)
    healthy(warm_worker, tmp_path)


def test_jobs_at_the_same_time_get_their_own_answers(warm_worker: Worker, tmp_path: Path) -> None:
    sleeper = tmp_path / "sleeper.py"
    sleeper.write_text("import time\ntime.sleep(600)")
    slow = warm_worker.submit(CaptureJob(str(sleeper), str(tmp_path), "portable"), Limits(2.0))
    quick = warm_worker.submit(SpellJob("not python ("), LIMITS)
    spelled, death = warm_worker.wait(quick).result, warm_worker.wait(slow).result
    assert isinstance(spelled, Spelled)
    assert spelled.error
    assert isinstance(death, Death)
    assert death.kind == "timeout"


def test_a_cancelled_job_ends_and_says_so(warm_worker: Worker, tmp_path: Path) -> None:
    path, pid = tmp_path / "sleeper.py", tmp_path / "pid"
    path.write_text(
        f"import os, time\nopen({str(pid)!r} + '.part', 'w').write(str(os.getpid()))\n"
        f"os.rename({str(pid)!r} + '.part', {str(pid)!r})\ntime.sleep(600)"
    )
    number = warm_worker.submit(CaptureJob(str(path), str(tmp_path), "portable"), LIMITS)
    assert until(pid.exists)
    warm_worker.cancel(number)
    result = warm_worker.wait(number).result
    assert isinstance(result, Death)
    assert result.kind == "cancelled"
    assert not alive(int(pid.read_text()))
    warm_worker.cancel(number)  # it is gone: nothing happens
    healthy(warm_worker, tmp_path)


# What needs a worker of its own: it ends in these.


@pytest.mark.parametrize("name", ["SIGKILL", "SIGSEGV"])
def test_a_killed_worker_is_an_error_that_names_the_signal(name: str, tmp_path: Path) -> None:
    sleeper = tmp_path / "sleeper.py"
    sleeper.write_text("import time\ntime.sleep(600)")
    with Worker(tmp_path / "log", accelerate=False) as worker:
        healthy(worker, tmp_path)
        number = worker.submit(CaptureJob(str(sleeper), str(tmp_path), "portable"), LIMITS)
        os.kill(worker._process.pid, getattr(signal, name))
        with pytest.raises(WorkerDied, match=name) as died:
            worker.wait(number)
        with pytest.raises(WorkerDied):
            worker.run(JudgeJob(case(), str(tmp_path)), LIMITS)
        assert str(tmp_path / "log") in died.value.hint


PARENT = """
import sys
from pathlib import Path
from reducer.core.wire import CaptureJob, Limits
from reducer.oracle.worker import Worker
folder = Path(sys.argv[1])
worker = Worker(folder / "log", accelerate=False)
worker.submit(CaptureJob(str(folder / "sleeper.py"), str(folder), "portable"), Limits(600))
(folder / "worker").write_text(str(worker._process.pid))
sys.stdin.read()
"""


def test_a_killed_parent_takes_the_worker_and_its_children_along(tmp_path: Path) -> None:
    (tmp_path / "sleeper.py").write_text(
        "import os, time\nfrom pathlib import Path\n"
        f"Path({str(tmp_path / 'child')!r}).write_text(str(os.getpid()))\ntime.sleep(600)"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path)],
        stdin=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": ROOT},
    )
    files = [tmp_path / "worker", tmp_path / "child"]
    try:
        assert until(lambda: all(file.exists() and file.read_text() for file in files), 300)
        worker, child = (int(file.read_text()) for file in files)
        assert alive(worker)
        assert alive(child)
    finally:
        parent.kill()
        parent.wait()
    assert until(lambda: not alive(worker))
    assert until(lambda: not alive(child))


def test_an_interpreter_that_cannot_start_is_reported(tmp_path: Path) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho 'no torch here' >&2\nexit 1\n")
    broken.chmod(0o755)
    with (
        Worker(tmp_path / "log", python=str(broken)) as worker,
        pytest.raises(NoEnvironment, match="no torch here"),
    ):
        _ = worker.environment
