# Lowering for xnnpack fails in preprocess.
# Observed: Exception: An error occurred when running the 'ChannelsLastTaggedReshapePass' pass
#   after the following passes: []
# Cause: AssertionError: Attempting to convert non-NHWC compatible node to NHWC
# With Python 3.11.7, torch 2.13.0+cpu, executorch 1.5.1.
import sys
import traceback

if "--expect-failure" in sys.argv:  # what breaks outside the check is no pass
    sys.excepthook = lambda *error: (sys.__excepthook__(*error), sys.exit(2))

import torch
import torch.nn.functional as F
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import to_edge_transform_and_lower


class Repro(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(1))

    def forward(self, x):
        return F.prelu(x, self.weight)


example_inputs = (torch.zeros(1),)


def lower():
    exported = torch.export.export(Repro().eval(), example_inputs)
    return to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])


def is_recorded(error):
    links = [error]
    while cause := links[-1].__cause__ or (
        None if links[-1].__suppress_context__ else links[-1].__context__
    ):
        links.append(cause)
    frames = [frame for frame, _ in traceback.walk_tb(links[-1].__traceback__)]
    places = [f"{f.f_globals.get('__name__')}:{f.f_code.co_name}" for f in frames]
    message = " ".join(str(links[-1]).split())
    passes = [type(f.f_locals.get("self")).__name__ for f in frames]
    return (
        [type(link).__name__ for link in links] == ["Exception", "AssertionError"]
        and "executorch.backends.xnnpack._passes.channels_last_tagged_reshape_pass:input_to_nhwc" in places
        and "Attempting to convert non-NHWC compatible node to NHWC" in message
        and any("ChannelsLastTaggedReshapePass" in word for word in [*passes, str(error)])
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
