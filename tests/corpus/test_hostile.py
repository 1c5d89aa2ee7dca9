"""Is nothing outside touched, whatever a stranger put into a corpus, and does the run go on?"""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from corpus_cases import SCRIPT, chain, finding, output_folder, tree
from hostile_entries import CHANGES

from reducer.cli.app import main
from reducer.cli.render import corpus as render
from reducer.cli.render import replayed as machine
from reducer.core.errors import BadInput
from reducer.corpus.outcome import Outcome, Replayed
from reducer.corpus.reading import Kept, Unreadable
from reducer.corpus.store import Corpus
from reducer.oracle import sandbox
from reducer.workflows import corpus as workflow


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    """A good entry, and one of webgpu that becomes bad."""
    place = Corpus(tmp_path / "corpus")
    workflow.add(output_folder(tmp_path / "good", finding()), place)
    bad = finding(chain("aten.relu.default", backend="webgpu"))
    workflow.add(output_folder(tmp_path / "bad", bad), place)
    return place


@pytest.mark.parametrize("name", CHANGES)
def test_what_is_wrong_is_told_and_the_rest_is_read(corpus: Corpus, name: str) -> None:
    change, word = CHANGES[name]
    [folder] = (corpus.root / "webgpu").iterdir()
    change(folder)
    started = time.monotonic()
    good, bad = sorted(corpus.read(), key=lambda item: item.name)
    assert time.monotonic() - started < 30
    assert isinstance(good, Kept)
    assert isinstance(bad, Unreadable)
    assert word in bad.reason
    shown = render.listing([good, bad])
    assert "\x1b" not in shown
    assert good.name in shown


def test_links_out_of_the_corpus_are_not_followed(corpus: Corpus, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    shutil.copytree(corpus.root / "vulkan", outside)
    (corpus.root / "xnnpack").symlink_to(outside)
    [entry] = (corpus.root / "vulkan").iterdir()
    (corpus.root / "webgpu" / "link").symlink_to(entry)
    bad = {item.name for item in corpus.read() if isinstance(item, Unreadable)}
    assert bad == {"corpus/xnnpack", "webgpu/link"}
    before = tree(outside)
    assert main(["corpus", "prune", "--unreadable", "--corpus", str(corpus.root)]) == 0
    assert tree(outside) == before
    assert all(isinstance(item, Kept) for item in corpus.read())
    assert len(corpus.read()) == 2


def test_nothing_is_written_through_links(corpus: Corpus, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("precious")
    [entry] = (corpus.root / "vulkan").iterdir()
    shutil.rmtree(entry)
    entry.symlink_to(outside)
    assert not workflow.add(tmp_path / "good", corpus).kept.folder.is_symlink()
    shutil.rmtree(corpus.root / "vulkan")
    (corpus.root / "vulkan").symlink_to(outside)
    with pytest.raises(BadInput, match="symbolic link"):
        workflow.add(tmp_path / "good", corpus)
    assert [path.name for path in outside.iterdir()] == ["file"]


def test_commands_go_on(corpus: Corpus, capsys: pytest.CaptureFixture[str]) -> None:
    [folder] = (corpus.root / "webgpu").iterdir()
    CHANGES["broken JSON"][0](folder)
    assert main(["corpus", "list", str(corpus.root)]) == 0
    assert "unreadable: webgpu/" in capsys.readouterr().out
    assert main(["corpus", "minimise", str(corpus.root)]) == 0
    target = corpus.root.parent / "all.zip"
    assert main(["corpus", "export", str(target), "--corpus", str(corpus.root)]) == 0
    assert folder.exists()


_NASTY = "<script>alert(1)</script> | `x` \x1b[31mred\x1b[0m \x00\ud800 ]]> [click](javascript:x)"


def test_messages_are_escaped_in_every_format() -> None:
    results = [Replayed(f"vulkan/{_NASTY}", "known failure", _NASTY, Outcome.DIFFERENT, _NASTY)]
    parsed = ElementTree.fromstring(machine.junit(results))
    assert "<script>" in (parsed.findtext(".//failure") or "")
    shown = machine.markdown(results)
    assert "<script>" not in shown
    assert "[click](" not in shown
    assert [
        line.count("|") - line.count("\\|") for line in shown.splitlines() if line[:1] == "|"
    ] == [5] * 3
    assert json.loads(json.dumps(machine.document(results)))["entries"][0]["detail"] == _NASTY
    assert "\x1b" not in render.row(results[0])


#: What a script may try, each with what it has to print if it was kept away.
ATTEMPTS = {
    "delete": "import shutil; shutil.rmtree({victim!r})",
    "overwrite": "open({victim!r} + '/file', 'w')",
    "append": "open({victim!r} + '/file', 'a').write('x')",
    "rename": "import os; os.rename({victim!r} + '/file', 'mine')",
    "link": "import os; os.link({victim!r} + '/file', 'mine')",
    "mode": "import os; os.chmod({victim!r} + '/file', 0)",
    "run": "import subprocess; subprocess.run(['rm', '-rf', {victim!r}], check=True)",
    "connect": "import socket; socket.create_connection(('127.0.0.1', {port}), 2)",
    "home": "import os, pwd; os.listdir(pwd.getpwuid(os.getuid()).pw_dir)",
    "kill": "import os; os.kill({pid}, 0)",
    "mount": "import subprocess; subprocess.run(['mount', '-o', 'remount,rw', '/'], check=True)",
}


@pytest.fixture
def port() -> Iterator[int]:
    """A server that would answer."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=server.accept, daemon=True).start()
        yield server.getsockname()[1]


@pytest.mark.skipif(bool(sandbox.warning()), reason=sandbox.warning() or "it holds")
@pytest.mark.parametrize("name", ATTEMPTS)
def test_a_confined_script_cannot(tmp_path: Path, port: int, name: str) -> None:
    victim, scratch = tmp_path / "victim", tmp_path / "scratch"
    victim.mkdir()
    scratch.mkdir()
    (victim / "file").write_text("precious")
    bystander = subprocess.Popen(["sleep", "60"])
    attempt = ATTEMPTS[name].format(victim=str(victim), port=port, pid=bystander.pid)
    try:
        command = [*sandbox.wrap(scratch), sys.executable, "-c", attempt]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=scratch)
    finally:
        bystander.kill()
        bystander.wait()
    assert done.returncode == 1, done
    assert "Error" in done.stderr
    assert (victim / "file").read_text() == "precious"
    assert (victim / "file").stat().st_mode & 0o400


@pytest.mark.parametrize("home", ["", "/", "/nowhere", str(Path(sys.prefix).parent)])
def test_a_confined_script_can_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: str
) -> None:
    if home:
        monkeypatch.setenv("HOME", home)
    work = (
        "import json, os, tempfile, pathlib, subprocess, sys\n"
        "pathlib.Path('here').write_text('x')\n"
        "tempfile.NamedTemporaryFile().write(b'x')\n"
        "pathlib.Path.home().joinpath('cache').mkdir()\n"
        "subprocess.run([sys.executable, '-c', 'print(1)'], check=True)\n"
    )
    command = [*sandbox.wrap(tmp_path), sys.executable, "-c", work]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache", "here"]


def test_a_confined_script_ends_with_whoever_started_it(tmp_path: Path) -> None:
    told = tmp_path / "pid"
    work = f"import os, time; open({str(told)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    command = [*sandbox.wrap(tmp_path), sys.executable, "-c", work]
    start = f"import subprocess; subprocess.run({command!r})"
    parent = subprocess.Popen([sys.executable, "-c", start], cwd=tmp_path)
    while not (told.exists() and told.read_text()):
        time.sleep(0.02)
    parent.kill()
    parent.wait()
    process = Path("/proc") / told.read_text() / "stat"
    deadline = time.monotonic() + 10
    while process.exists() and process.read_text().rpartition(")")[2].split()[0] != "Z":
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_where_nothing_holds_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "kept_away", frozenset)
    assert "files, network, home" in sandbox.warning()


#: Scripts of entries: what they try, and then what they say of themselves.
_SCRIPTS = (
    "import shutil\ntry:\n    shutil.rmtree({victim!r})\nfinally:\n    sys.exit(0)\n",
    "import os\nos.kill(os.getppid(), 9)\n",
    "import socket\nsocket.create_connection(('127.0.0.1', {port}), 2)\nsys.exit(1)\n",
    "print('<b>\\x1b[31m' * 10**6)\nsys.exit(3)\n",
)


@pytest.mark.torch
def test_a_check_of_a_hostile_corpus(
    corpus: Corpus, tmp_path: Path, port: int, capsys: pytest.CaptureFixture[str]
) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    for number, attempt in enumerate(_SCRIPTS, 2):
        script = "import sys\n" + attempt.format(victim=str(victim), port=port)
        program = chain(*["aten.sin.default"] * number)
        folder = output_folder(tmp_path / f"h{number}", finding(program), script=script)
        workflow.add(folder, corpus)
    target = "os:remove"
    evil = chain("aten.sin.default", target, backend="portable")
    nodes = evil.graph.nodes
    (victim / "file").write_text("precious")
    call_it = (nodes[0], type(nodes[1])("y1", target, (str(victim / "file"),)))
    evil = evil.with_graph(type(evil.graph)(evil.graph.inputs, call_it, evil.graph.outputs))
    workflow.add(output_folder(tmp_path / "evil", finding(evil), script=SCRIPT), corpus)
    [folder] = (corpus.root / "webgpu").iterdir()
    CHANGES["large file"][0](folder)
    assert main(["corpus", "check", str(corpus.root), "--json", "--timeout", "60"]) == 8
    told = json.loads(capsys.readouterr().out)
    outcomes = sorted(entry["outcome"] for entry in told["entries"])
    # All of them lower but the one that called os.remove, which is left to its script; two scripts
    # break down where they are kept away from something.
    assert outcomes == ["fixed"] * 2 + ["flaky"] * 3 + ["still fails", "unreadable"], told
    assert (victim / "file").read_text() == "precious"
