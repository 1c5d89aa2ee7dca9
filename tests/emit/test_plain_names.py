"""Is a case the same one under other names, and do these tell nothing?"""

from __future__ import annotations

from emit_cases import call, case

from reducer.core.case import Case, Input, TensorSpec
from reducer.emit.plain_names import plain_names, renamed
from reducer.graph.canonical import case_digest

ONE = TensorSpec((1,), "float32")


def secret_case() -> Case:
    inputs = (
        Input("secret_pixels", "input", ONE),
        Input("p_vault_codes", "parameter", ONE),
        Input("b_vault_running_mean", "buffer", ONE),
        Input("p_l_lock", "parameter", ONE),
        Input("x", "input", ONE),
    )
    nodes = (
        call("div", "aten.mul.Tensor", "%secret_pixels", "%p_vault_codes", spec=ONE),
        call("mul", "aten.mul.Tensor", "%div", "%p_l_lock", spec=ONE),
        call("abs_7", "aten.abs.default", "%mul", spec=ONE),
        call("add", "aten.add.Tensor", "%abs_7", "%b_vault_running_mean", spec=ONE),
    )
    made = case(nodes, "%add", "%x", inputs=inputs)
    return Case(
        made.graph, made.recipe, schemas=made.schemas, structure=("dict:logits,lock", "*", "*")
    )


def test_values_are_called_after_operator_and_role() -> None:
    names = plain_names(secret_case())
    assert names == {
        "secret_pixels": "x", "p_vault_codes": "p_weight", "b_vault_running_mean": "b_running_mean",
        "p_l_lock": "p_weight_2", "x": "y",
        "div": "mul", "mul": "mul_2", "abs_7": "abs", "add": "add",
    }  # fmt: skip


def test_it_stays_the_same_case_and_says_nothing() -> None:
    old = secret_case()
    new = renamed(old, plain_names(old))
    assert new.structure == ("dict:a,b", "*", "*")
    restored = Case(new.graph, new.recipe, schemas=new.schemas, structure=old.structure)
    assert case_digest(restored) == case_digest(old)
    assert not {"secret", "vault", "lock"} & set(str(new).replace("_", " ").split("'"))
    assert renamed(new, plain_names(new)) == new


def test_names_of_inputs_are_kept_on_demand() -> None:
    old = secret_case()
    kept = renamed(old, plain_names(old, keep=True), keep=True)
    assert kept.graph.inputs == old.graph.inputs
    assert kept.structure == old.structure
    assert [node.name for node in kept.graph.nodes] == ["mul", "mul_2", "abs", "add"]


def test_many_inputs_have_many_names() -> None:
    inputs = tuple(Input(f"secret{n}", "input", ONE) for n in range(9))
    names = plain_names(case((), *(f"%secret{n}" for n in range(9)), inputs=inputs))
    assert len(set(names.values())) == 9
