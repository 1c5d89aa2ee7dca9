# Lowering for portable fails in to_edge.
# Observed: SpecViolationError: Operator torch._ops.aten.adaptive_max_pool3d.default is not in
#   Core ATen opset (https://pytorch.org/docs/stable/torch.compiler_ir.html#core-aten-ir)."
# With Python 3.11.7, torch 2.13.0+cpu, executorch 1.5.1.
import sys
import traceback

if "--expect-failure" in sys.argv:  # what breaks outside the check is no pass
    sys.excepthook = lambda *error: (sys.__excepthook__(*error), sys.exit(2))

import torch
from executorch.exir import to_edge_transform_and_lower


class Repro(torch.nn.Module):
    def forward(self, x):
        return torch.ops.aten.adaptive_max_pool3d.default(x, [1, 1, 1])[0]


example_inputs = (torch.zeros(1, 1, 1, 1),)


def lower():
    exported = torch.export.export(Repro().eval(), example_inputs)
    return to_edge_transform_and_lower(exported)


def is_recorded(error):
    links = [error]
    while cause := links[-1].__cause__ or (
        None if links[-1].__suppress_context__ else links[-1].__context__
    ):
        links.append(cause)
    frames = [frame for frame, _ in traceback.walk_tb(links[-1].__traceback__)]
    places = [f"{f.f_globals.get('__name__')}:{f.f_code.co_name}" for f in frames]
    message = " ".join(str(links[-1]).split())
    return (
        [type(link).__name__ for link in links] == ["SpecViolationError"]
        and "executorch.exir.verification.verifier:check_valid_op" in places
        and "Operator torch._ops.aten.adaptive_max_pool3d.default is not in Core ATen" in message
        and '#core-aten-ir)." There are a few things to try:' in message
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
