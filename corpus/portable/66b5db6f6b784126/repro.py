# Lowering for portable fails in to_executorch.
# Observed: InternalError: Failed with error: Unsupported control flow operator: while_loop
# With Python 3.11.7, torch 2.13.0+cpu, executorch 1.5.1.
import sys
import traceback

if "--expect-failure" in sys.argv:  # what breaks outside the check is no pass
    sys.excepthook = lambda *error: (sys.__excepthook__(*error), sys.exit(2))

import torch
from executorch.exir import to_edge_transform_and_lower
from torch._higher_order_ops.while_loop import while_loop


class Repro(torch.nn.Module):
    def forward(self, x):
        def cond_fn(x):
            return x < 1

        def body_fn(x):
            return (x + 1,)

        return while_loop(cond_fn, body_fn, (x,))[0]


example_inputs = (torch.tensor(0.0),)


def lower():
    exported = torch.export.export(Repro().eval(), example_inputs)
    edge = to_edge_transform_and_lower(exported)
    return edge.to_executorch()


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
        [type(link).__name__ for link in links] == ["InternalError"]
        and "executorch.exir.emit._emitter:_emit_control_flow" in places
        and "Failed with error: Unsupported control flow operator: while_loop" in message
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
