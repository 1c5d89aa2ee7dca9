# ChannelsLastTaggedReshapePass raises AssertionError: Attempting to convert non-NHWC compatible
#   node to NHWC
# Met in preprocess for xnnpack; here on a graph made by hand.
# With Python 3.11.7, torch 2.13.0+cpu, executorch 1.5.1.
import sys
import traceback

if "--expect-failure" in sys.argv:  # what breaks outside the check is no pass
    sys.excepthook = lambda *error: (sys.__excepthook__(*error), sys.exit(2))

import torch
from executorch.backends.xnnpack._passes.channels_last_tagged_reshape_pass import (
    ChannelsLastTaggedReshapePass,
)
from executorch.exir import EdgeCompileConfig
from executorch.exir.dialects._ops import ops
from executorch.exir.verification.verifier import EXIREdgeDialectVerifier
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.export import ExportedProgram
from torch.export.exported_program import ModuleCallEntry, ModuleCallSignature
from torch.export.graph_signature import (
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    TensorArgument,
)
from torch.utils import _pytree as pytree


def build():
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    x.meta["val"] = mode.from_tensor(torch.zeros(1))
    prelu = graph.call_function(ops.edge.aten.prelu.default, (x, x))
    with mode:
        prelu.meta["val"] = ops.edge.aten.prelu.default(x.meta["val"], x.meta["val"])
    graph.output((prelu,))
    return torch.fx.GraphModule(torch.nn.Module(), graph)


def program_around(graph_module):
    inputs = [
        InputSpec(InputKind.USER_INPUT, TensorArgument("x"), None),
    ]
    empty = pytree.tree_structure(((), {}))
    return ExportedProgram(
        root=graph_module,
        graph=graph_module.graph,
        graph_signature=ExportGraphSignature(
            inputs,
            [
                OutputSpec(OutputKind.USER_OUTPUT, TensorArgument(node.name), None)
                for node in graph_module.graph.output_node().args[0]
            ],
        ),
        state_dict={},
        range_constraints={},
        module_call_graph=[ModuleCallEntry("", ModuleCallSignature([], [], empty, empty))],
        constants={},
        verifiers=[
            EXIREdgeDialectVerifier(EdgeCompileConfig(_check_ir_validity=False), class_only=True)
        ],
    )


def run_pass():
    graph_module = build()
    program = program_around(graph_module)
    graph_module = program.graph_module
    return ChannelsLastTaggedReshapePass(program)(graph_module)


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
        [type(link).__name__ for link in links] == ["AssertionError"]
        and "executorch.backends.xnnpack._passes.channels_last_tagged_reshape_pass:input_to_nhwc" in places
        and "Attempting to convert non-NHWC compatible node to NHWC" in message
        and any("ChannelsLastTaggedReshapePass" in word for word in [*passes, str(error)])
    )


if __name__ == "__main__":
    if "--expect-failure" not in sys.argv:
        run_pass()
        sys.exit()
    try:
        run_pass()
    except Exception as error:
        traceback.print_exc()
        sys.exit(0 if is_recorded(error) else 2)
    sys.exit(1)  # it passes
