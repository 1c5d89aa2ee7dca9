# Lowering for vulkan fails in partition.
# Observed: InternalError: Could not guard on data-dependent expression u21 < 0 (unhinted: u21 <
#   0). (Size-like symbols: none)
# Cause: GuardOnDataDependentSymNode: Could not guard on data-dependent expression u21 < 0
#   (unhinted: u21 < 0). (Size-like symbols: none)
# With Python 3.11.7, torch 2.13.0+cpu, executorch 1.5.1.
import sys
import traceback

if "--expect-failure" in sys.argv:  # what breaks outside the check is no pass
    sys.excepthook = lambda *error: (sys.__excepthook__(*error), sys.exit(2))

import torch
from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner
from executorch.exir import to_edge_transform_and_lower


class Repro(torch.nn.Module):
    def forward(self, x, y, z):
        item = x[0].item()
        torch._check(item >= 0)
        torch._check(item <= 1)
        z.index_copy_(0, x, y[item:1])
        return item


example_inputs = (torch.zeros(1, dtype=torch.int64), torch.zeros(2), torch.zeros(1))


def lower():
    exported = torch.export.export(Repro().eval(), example_inputs)
    return to_edge_transform_and_lower(exported, partitioner=[VulkanPartitioner()])


def is_recorded(error):
    links = [error]
    while cause := links[-1].__cause__ or (
        None if links[-1].__suppress_context__ else links[-1].__context__
    ):
        links.append(cause)
    frames = [frame for frame, _ in traceback.walk_tb(links[-1].__traceback__)]
    places = [f"{f.f_globals['__name__']}:{f.f_code.co_name}" for f in frames]
    message = " ".join(str(links[-1]).split())
    return (
        [type(link).__name__ for link in links] == ["InternalError", "GuardOnDataDependentSymNode"]
        and "torch.fx.experimental.symbolic_shapes:_evaluate_expr" in places
        and "Could not guard on data-dependent expression" in message
        and "(unhinted:" in message
        and "). (Size-like symbols: none)" in message
    )


if __name__ == "__main__":
    if "--expect-failure" not in sys.argv:
        lower()
        sys.exit()
    try:
        lower()
    except Exception as error:
        traceback.print_exc()
        sys.exit(0 if is_recorded(error) else 2)
    sys.exit(1)  # it passes
