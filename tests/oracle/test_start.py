"""Does a worker see the packages of its own interpreter, and not those beside reducer?"""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
from pathlib import Path

import reducer


def test_what_is_installed_beside_reducer_is_hidden_from_the_worker(tmp_path: Path) -> None:
    site = tmp_path / "site"
    shutil.copytree(
        Path(reducer.__file__).parent,
        site / "reducer",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    (site / "torch.py").write_text("raise SystemExit('the torch of another interpreter')\n")
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(b"{}\n")
        start = site / "reducer" / "lowering" / "start.py"
        done = subprocess.run(
            [sys.executable, "-I", "-S", str(start), str(theirs.fileno())],
            capture_output=True,
            text=True,
            check=False,
            pass_fds=[theirs.fileno()],
            timeout=60,
        )
    assert done.returncode == 1
    assert done.stderr.strip().endswith("No module named 'torch'")
    assert str(site / "reducer" / "lowering" / "warm.py") in done.stderr
