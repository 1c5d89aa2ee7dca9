# Lowering for webgpu fails in preprocess.
# Observed: Exception: An error occurred when running the 'FuseBatchNormPass' pass after the
#   following passes: []
# Cause: AssertionError: fake mode (<torch._subclasses.fake_tensor.FakeTensorMode>) from fake
#   tensor input 0 doesn't match mode (<torch._subclasses.fake_tensor.FakeTensorMode>) from fake
#   tensor input 1
# With Python 3.11.7, torch 2.13.0+cpu, executorch 1.5.1.
import sys
import traceback

if "--expect-failure" in sys.argv:  # what breaks outside the check is no pass
    sys.excepthook = lambda *error: (sys.__excepthook__(*error), sys.exit(2))

import torch
from executorch.backends.webgpu.partitioner.partitioner import WebGPUPartitioner
from executorch.exir import to_edge_transform_and_lower


class Repro(torch.nn.Module):
    def forward(self, x):
        return torch.arange(1) * 1


example_inputs = (torch.zeros(1),)


def lower():
    exported = torch.export.export(Repro().eval(), example_inputs)
    return to_edge_transform_and_lower(exported, partitioner=[WebGPUPartitioner()])


def is_recorded(error):
    links = [error]
    while cause := links[-1].__cause__ or (
        None if links[-1].__suppress_context__ else links[-1].__context__
    ):
        links.append(cause)
    frames = [frame for frame, _ in traceback.walk_tb(links[-1].__traceback__)]
    places = [f"{f.f_globals['__name__']}:{f.f_code.co_name}" for f in frames]
    message = " ".join(str(links[-1]).split())
    passes = [type(f.f_locals.get("self")).__name__ for f in frames]
    return (
        [type(link).__name__ for link in links] == ["Exception", "AssertionError"]
        and "torch._guards:detect_fake_mode" in places
        and "fake mode (<torch._subclasses.fake_tensor.FakeTensorMode object at" in message
        and ">) from fake tensor input" in message
        and "doesn't match mode (<torch._subclasses.fake_tensor.FakeTensorMode object" in message
        and any("FuseBatchNormPass" in word for word in [*passes, str(error)])
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
