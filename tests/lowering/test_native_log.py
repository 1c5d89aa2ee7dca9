"""What does native code say when it fails, and is it heard?"""

from __future__ import annotations

import os
import tempfile

from reducer.lowering.native_log import complaints, logged_to

LOG = """\
[cpuinfo_utils.cpp:109] Failed to open midr file
some library's remark
[kernel_ops_util.cpp:394] Check failed (in.dim() == 3): got, 5.
[operator_registry.cpp:278] dtype: 6 | dim order: [
[operator_registry.cpp:278] 0,
[operator_registry.cpp:278] ]
[method.cpp:1483] KernelCall failed at instruction 0:0 in operator aten::convolution.out: 0x12
[method.cpp:1493] arg 0 with type id 1
terminate called after throwing an instance of 'std::bad_alloc'
"""


def test_complaints_are_kept_remarks_and_lists_are_not() -> None:
    assert complaints(LOG).splitlines() == [
        "[kernel_ops_util.cpp:394] Check failed (in.dim() == 3): got, 5.",
        "[method.cpp:1483] KernelCall failed at instruction 0:0 in operator aten::convolution.out:"
        " 0x12",
        "terminate called after throwing an instance of 'std::bad_alloc'",
    ]


def test_of_many_the_first_are_kept_each_once() -> None:
    many = "".join(f"[a.cpp:{n}] failed again\n[b.cpp:1] the same\n" for n in range(100))
    kept = complaints(many).splitlines()
    assert kept[:2] == ["[a.cpp:0] failed again", "[b.cpp:1] the same"]
    assert len(kept) < 10


def test_what_is_written_meanwhile_is_heard_and_passed_on(capfd) -> None:
    with tempfile.TemporaryFile() as file:
        file.write(b"earlier ")
        file.flush()
        said: list[str] = []
        with logged_to(file.fileno(), said):
            os.write(2, b"[x.cpp:1] broken\n")
        os.write(2, b"after\n")
        assert said == ["[x.cpp:1] broken\n"]
        file.seek(0)
        assert file.read() == b"earlier [x.cpp:1] broken\n"
    assert capfd.readouterr().err == "[x.cpp:1] broken\nafter\n"


def test_it_is_heard_when_something_raises(capfd) -> None:
    said: list[str] = []
    try:
        with logged_to(None, said):
            os.write(2, b"why\n")
            raise ValueError
    except ValueError:
        assert said == ["why\n"]
