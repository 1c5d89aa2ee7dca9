"""How is a program lowered to an eIQ Neutron NPU? What is not quantised stays outside."""

from reducer.core.recipe import Construct
from reducer.lowering.backends.backend import Backend

_NXP = "executorch.backends.nxp"

BACKEND = Backend(
    name="nxp",
    partitioner=f"{_NXP}.neutron_partitioner:NeutronPartitioner",
    arguments=(
        (
            "compile_spec",
            Construct(
                f"{_NXP}.nxp_backend:generate_neutron_compile_spec",
                kwargs=(("config", "imxrt700"),),
            ),
        ),
        (
            "neutron_target_spec",
            Construct(f"{_NXP}.backend.neutron_target_spec:NeutronTargetSpec", ("imxrt700",)),
        ),
    ),
    options_argument="compile_spec",
    needs="NXP's eiq_neutron_sdk",
)
