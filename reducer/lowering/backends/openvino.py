"""How is a program lowered to OpenVINO?"""

from reducer.core.recipe import Items
from reducer.lowering.backends.backend import Backend, compile_spec

BACKEND = Backend(
    name="openvino",
    partitioner="executorch.backends.openvino.partitioner:OpenvinoPartitioner",
    arguments=(("compile_spec", Items("list", (compile_spec("device", b"CPU"),))),),
    options_argument="compile_spec",
    needs="openvino and nncf (pip install executorch[openvino] nncf==3.1.0)",
)
