"""Is the same bug the same entry, whoever adds it, in whatever order, and whenever they are killed?"""

from __future__ import annotations

import itertools
import os
import random
import shutil
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from corpus_cases import chain, finding, output_folder, ten_findings, tree

from reducer.core.errors import BadInput
from reducer.corpus.entry import KNOWN_FAILURE, MUST_PASS, Versions, entry_of, joined
from reducer.corpus.reading import Kept
from reducer.corpus.store import Corpus
from reducer.workflows import corpus as workflow


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    return Corpus(tmp_path / "corpus")


def test_what_belongs_to_the_run_is_not_kept(tmp_path: Path, corpus: Corpus) -> None:
    first = finding(notes=("a note",), subject="one.py", operators_before=7)
    second = finding(subject="/home/ann/two.py", operators_before=99)
    trees = []
    for number, found in enumerate((first, second)):
        here = Corpus(tmp_path / f"corpus{number}")
        said = f"<FakeTensorMode object at 0x7f3e0ad60f5{number}>\n"
        workflow.add(output_folder(tmp_path / str(number), found, report_md=said), here)
        trees.append(tree(here.root))
    assert trees[0] == trees[1]
    text = b"".join(trees[0].values()).decode()
    assert "ann" not in text
    assert "note" not in text


def test_the_id_comes_from_signature_and_canonical_case() -> None:
    entry = entry_of(finding())
    renamed = entry_of(finding(chain("aten.sin.default")))
    assert entry.id == renamed.id
    others = [
        finding(message="another"), finding(chain("aten.relu.default")), finding(oracle="metadata"),
        finding(chain("aten.sin.default", backend="webgpu")),
    ]  # fmt: skip
    assert len({entry.id, *(entry_of(other).id for other in others)}) == 5


@pytest.mark.parametrize("rules", [(2, 1, 1), (1, 99, 1), (1, 1, 99)])
def test_other_rules_are_another_id(rules: tuple[int, int, int]) -> None:
    entry = entry_of(finding())
    other = replace(entry, rules=rules)
    assert (entry.id, entry.comparable, other.comparable) == (entry_of(finding()).id, True, False)
    assert other.id != entry.id


def test_the_same_findings_in_any_order_give_the_same_tree(tmp_path: Path) -> None:
    folders = ten_findings(tmp_path / "out")
    orders = [folders, folders[::-1], *(random.Random(n).sample(folders, 10) for n in range(6))]
    trees = []
    for number, order in enumerate(orders):
        here = Corpus(tmp_path / f"corpus{number}")
        for folder in order:
            workflow.add(folder, here)
        trees.append(tree(here.root))
    assert len(trees[0]) == 8 * 3  # record, script and report of eight bugs
    assert all(found == trees[0] for found in trees)


def test_adding_again_says_so_and_joins(tmp_path: Path, corpus: Corpus) -> None:
    workflow.add(output_folder(tmp_path / "a", finding()), corpus)
    newer = finding(environment=replace(finding().environment, executorch="1.6.0"))
    again = workflow.add(
        output_folder(tmp_path / "b", newer), corpus, "https://example.org/issues/7"
    )
    assert not again.new
    [kept] = corpus.entries()
    assert kept.entry.failing == (Versions("1.5.1", "2.13.0"), Versions("1.6.0", "2.13.0"))
    assert kept.entry.link == "https://example.org/issues/7"
    assert kept.entry.failing == again.kept.entry.failing


def test_joining_knows_no_order() -> None:
    entry = entry_of(finding())
    parts = [
        entry,
        entry.seen(Versions("1.6.0", "2.14.0"), fails=False),
        replace(entry, status=MUST_PASS),
        replace(entry, link="https://b.org/2"),
        replace(entry, link="https://a.org/1"),
    ]
    results = set()
    for order in itertools.permutations(parts):
        whole = order[0]
        for part in order[1:]:
            whole = joined(joined(whole, part), part)
        results.add(whole)
    assert len(results) == 1
    [whole] = results
    assert (whole.status, whole.link, len(whole.passing)) == (MUST_PASS, "https://a.org/1", 1)


def test_near_duplicates_are_told(tmp_path: Path, corpus: Corpus) -> None:
    first = workflow.add(output_folder(tmp_path / "a", finding()), corpus)
    relu = workflow.add(output_folder(tmp_path / "b", finding(chain("aten.relu.default"))), corpus)
    other = finding(chain("aten.relu.default"), "else")
    elsewhere = replace(other, failure=replace(other.failure, chain=(
        replace(other.failure.chain[0], frames=()),)))  # fmt: skip
    assert [kept.name for kept in relu.near] == [first.kept.name]
    assert workflow.add(output_folder(tmp_path / "c", elsewhere), corpus).near == ()


def test_of_what_covers_the_same_the_simplest_stays(tmp_path: Path, corpus: Corpus) -> None:
    programs = [
        chain("aten.relu.default"),
        chain("aten.relu.default", "aten.relu.default"),
        chain("aten.sin.default"),
        chain("aten.sin.default", "aten.relu.default"),
    ]
    added = [
        workflow.add(output_folder(tmp_path / str(n), finding(program)), corpus).kept.name
        for n, program in enumerate(programs)
    ]
    assert [kept.name for kept in workflow.minimise(corpus)] == [added[1]]
    corpus.remove([kept.folder for kept in workflow.minimise(corpus)])
    assert {kept.name for kept in corpus.entries()} == {added[0], added[2], added[3]}
    assert workflow.minimise(corpus) == []


@pytest.mark.parametrize("status", ["unconfirmed", "interrupted", "stopped"])
def test_only_what_is_confirmed_is_added(tmp_path: Path, corpus: Corpus, status: str) -> None:
    with pytest.raises(BadInput, match=status):
        workflow.add(output_folder(tmp_path / "a", finding(status=status)), corpus)
    assert not corpus.root.exists()


def test_a_link_is_a_link(tmp_path: Path, corpus: Corpus) -> None:
    folder = output_folder(tmp_path / "a", finding())
    for link in ("javascript:alert(1)", "https://x.org/<script>", "https://x.org/" + "a" * 400):
        with pytest.raises(BadInput, match="no link"):
            workflow.add(folder, corpus, link)


def test_a_backend_of_any_name_is_a_folder(tmp_path: Path, corpus: Corpus) -> None:
    program = chain("aten.sin.default", backend="../../etc:My.Partitioner")
    kept = workflow.add(output_folder(tmp_path / "a", finding(program)), corpus).kept
    assert kept.folder.parent.parent == corpus.root
    assert [item.name for item in corpus.entries()] == [kept.name]


def test_tensors_and_further_files_come_along(tmp_path: Path, corpus: Corpus) -> None:
    folder = output_folder(tmp_path / "a", finding(), test_py="def test(): ...\n")
    (folder / "repro.safetensors").write_bytes(b"\0" * 8)
    for stray in ("repro.py~", "notes", ".hidden.py"):
        (folder / stray).write_text("somebody's own")
    for package in ("own", "own/inner", "others/1"):
        (folder / package).mkdir(parents=True)
        (folder / package / ("repro.py" if package == "others/1" else "__init__.py")).write_text("")
    kept = workflow.add(folder, corpus).kept
    assert kept.files == (
        "own/__init__.py", "own/inner/__init__.py", "repro.py", "repro.safetensors", "test.py"
    )  # fmt: skip
    assert corpus.entries() == [kept]


def test_promoting_stays(tmp_path: Path, corpus: Corpus) -> None:
    folder = output_folder(tmp_path / "a", finding())
    kept = workflow.add(folder, corpus).kept
    assert kept.entry.status == KNOWN_FAILURE
    [promoted] = workflow.promote(corpus, [kept.folder.name[:6]])
    assert promoted.entry.status == MUST_PASS
    assert workflow.add(folder, corpus).kept.entry.status == MUST_PASS
    assert [item.entry.status for item in corpus.entries()] == [MUST_PASS]


def test_names_of_none_or_of_several(tmp_path: Path, corpus: Corpus) -> None:
    for folder in ten_findings(tmp_path / "out")[:4]:
        workflow.add(folder, corpus)
    for name in ("", "zzz", "vulkan"):
        with pytest.raises(BadInput, match=r"entries are called|no entry is called"):
            corpus.find([name])


#: How often each is killed: CI is content with less than the acceptance run, which uses 50.
KILLS = int(os.environ.get("REDUCE_KILLS", "12"))
_TOUCHES = frozenset({"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod"})


@pytest.mark.parametrize("what", ["add", "check", "minimise"])
def test_kills_leave_no_half_entry_and_lose_nothing(tmp_path: Path, what: str) -> None:
    folders = ten_findings(tmp_path / "out")
    corpus = Corpus(tmp_path / "corpus")
    for folder in folders:
        workflow.add(folder, corpus)
    whole = {kept.name for kept in corpus.entries()}
    pristine = shutil.copytree(corpus.root, tmp_path / "pristine")
    cut_short = 0
    for moment in range(0, 7 * KILLS, 7):
        _run_and_kill(corpus, what, folders, moment)
        cut_short += any(path.name.startswith(".") for path in corpus.root.iterdir())
        found = corpus.read()
        assert all(isinstance(item, Kept) for item in found), found
        if what == "minimise":
            shutil.copytree(pristine, corpus.root, dirs_exist_ok=True)
        assert {kept.name for kept in corpus.entries()} == whole
    assert cut_short  # or nothing was tested
    workflow.add(folders[0], corpus)  # the next writer tidies up
    assert [path.name for path in corpus.root.iterdir()] == ["vulkan"]


def _busy(corpus: Corpus, what: str, folders: Sequence[Path]) -> None:
    """Adds, records or minimises without end."""
    for number in itertools.count():
        if what == "check":
            for kept in corpus.entries():
                corpus.update(kept, kept.entry.seen(Versions(str(number % 7), "2"), fails=True))
            continue
        for folder in folders:
            workflow.add(folder, corpus)
        if what == "minimise":
            corpus.remove([kept.folder for kept in workflow.minimise(corpus)])


def _run_and_kill(corpus: Corpus, what: str, folders: Sequence[Path], moment: int) -> None:
    """Kill it when it does something to the file system for the so-manieth time."""
    pid = os.fork()
    if pid == 0:
        done = itertools.count()

        def kill(event: str, _: object) -> None:
            if event in _TOUCHES and next(done) == moment:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(kill)
        _busy(corpus, what, folders)
    os.waitpid(pid, 0)
