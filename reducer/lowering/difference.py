"""In which way do two ``.pte`` files differ? What ExecuTorch's own devtools say."""

from __future__ import annotations

from reducer.core.wire import Difference, DifferenceJob


def difference(job: DifferenceJob) -> Difference:
    """The report of ``devtools.pte_tool.diff_pte``; nothing where a release has none."""
    try:
        from executorch.devtools.pte_tool.diff_pte import diff_pte, format_diff_result
    except ImportError:
        return Difference()
    found = diff_pte(job.before, job.after, "before", "after")
    return Difference(tuple(line.rstrip() for line in format_diff_result(found).splitlines()))
