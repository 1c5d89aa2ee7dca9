"""Are two failures told apart when they are two, and recognised when they are one?"""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reducer.core.signature import (
    MATCH_LEVELS,
    Failure,
    Frame,
    MatchRule,
    Signature,
    named_pass,
    normalise_message,
    signature_of,
)
from reducer.core.stage import Stage
from tests.core.failures import (
    channels_last,
    fake_mode,
    guard,
    link,
    missing_out,
    not_fake,
    spec_violation,
    tagged,
    view_spec,
    wrapped,
)

FAKE = "torch._subclasses.fake_tensor:validate"
EXACT, SITE, TYPE = (MatchRule(level) for level in MATCH_LEVELS)

#: (what it is, the failure, its signature)
TABLE = [
    ("fake mode", wrapped("FuseBatchNormPass", fake_mode()),
     Signature(Stage.PREPROCESS, ("Exception", "AssertionError"), FAKE,
               "Mixing fake modes NYI x.fake_mode=<torch._subclasses.fake_tensor.FakeTensorMode "
               "object at <address>> vs self=<torch._subclasses.fake_tensor.FakeTensorMode object "
               "at <address>>", "FuseBatchNormPass")),
    ("missing out variants", missing_out("aten::_fft_r2c", "aten::angle"),
     Signature(Stage.TO_EXECUTORCH, ("RuntimeError",), "executorch.exir.passes:call",
               "Missing out variants: {'aten::_fft_r2c', 'aten::angle'}", "ToOutVarPass")),
    ("data-dependent guard", guard(),
     Signature(Stage.TO_EDGE, ("torch.fx.experimental.symbolic_shapes.GuardOnDataDependentSymNode",),
               "torch.fx.experimental.symbolic_shapes:evaluate_expr",
               "Could not guard on data-dependent expression Eq<shape> (unhinted: Eq<shape>). "
               "(Size-like symbols: <symbol>)")),
    ("view spec", view_spec(),
     Signature(Stage.TO_EXECUTORCH, ("Exception",),
               "executorch.exir.passes.replace_view_copy_with_view_pass:__init__",
               "_ViewSpec is incompatible with its base on creation. It has shape_dynamism=<n>, but "
               "its base has shape_dynamism=<n>", "ReplaceViewCopyWithViewPass")),
    ("channels last", channels_last(),
     Signature(Stage.PREPROCESS, ("Exception", "AssertionError"),
               "executorch.backends.xnnpack._passes.channels_last_tagged_reshape_pass:input_to_nhwc",
               "Expected <node> to be NCHW in channels last reshape pass",
               "ChannelsLastTaggedReshapePass")),
    ("constant with two owners", tagged(),
     Signature(Stage.PARTITION, ("RuntimeError",),
               "executorch.exir.backend.backend_api:tag_constant_data",
               "constant data node (<node>) is tagged with (<tag>) but has user (output) which has "
               "tag (None)")),
]  # fmt: skip


@pytest.mark.parametrize(
    ("failure", "signature"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE]
)
def test_a_real_failure_has_this_signature(failure: Failure, signature: Signature) -> None:
    assert signature_of(failure) == signature
    for rule in (EXACT, SITE, TYPE):
        assert rule.same(signature, failure)


def test_a_violated_spec_is_identified_by_its_operator() -> None:
    found = signature_of(spec_violation())
    assert found.types == ("torch._export.verifier.SpecViolationError",)
    assert "torch._ops.aten._fft_r2c.default" in found.message


def with_first_frame(failure: Failure, frame: Frame) -> Failure:
    first = failure.chain[-1]
    return replace(
        failure, chain=(*failure.chain[:-1], replace(first, frames=(frame, *first.frames)))
    )


def through(*sites: str) -> Failure:
    return Failure(Stage.TO_EDGE, (link("RuntimeError", "no", *sites),))


def saying(message: str) -> Failure:
    return Failure(Stage.TO_EDGE, (link("RuntimeError", message, "torch.export:export"),))


MIXED = wrapped("FuseBatchNormPass", fake_mode())
#: (what does not count, one occurrence, another of the same fault)
SAME = [
    ("addresses", MIXED, wrapped("FuseBatchNormPass", fake_mode(address="0x5577aa01"))),
    ("node names", MIXED, wrapped("FuseBatchNormPass", fake_mode(node="aten_mul_tensor_41"))),
    ("shapes", MIXED, wrapped("FuseBatchNormPass", fake_mode(shape="(8, 3, 224, 224)"))),
    ("earlier passes", MIXED, wrapped("FuseBatchNormPass", fake_mode(), "['A', 'B']")),
    ("user code on the stack", MIXED, with_first_frame(MIXED, Frame("__main__", "main", 3))),
    ("line numbers", through("torch._ops:__call__:1", "torch.export:export:7"),
     through("torch._ops:__call__:2", "torch.export:export:99")),
    ("how the dispatcher was entered", through("torch.export:export", "torch._ops:__call__"),
     through("torch.export:export", "torch.utils._stats:wrapper", "torch._library.fake:f")),
    ("the graph module's own code below a library", through("torch.export:export"),
     through("torch.export:export", "<eval_with_key>.12:forward")),
    ("symbols", guard("u0"), guard("u21")),
    ("numbers", guard(bound=1), guard(bound=128)),
    ("where user code was", guard(user_line=3), guard(user_line=99)),
    ("parameter names", channels_last("p_stem_weight"), channels_last("b_backbone_0_bias")),
    ("lifted constants", channels_last("_lifted_tensor_constant3"),
     channels_last("_lifted_tensor_constant17")),
    ("tag numbers", tagged(tag="tag0"), tagged(tag="tag31")),
    ("numbered users", tagged(user="aten_add_tensor_1"), tagged(user="aten_add_tensor_22")),
    ("the order of a printed set", missing_out("aten::b", "aten::a"),
     missing_out("aten::a", "aten::b")),
    ("user class paths", saying("cannot trace '__main__.Net' here"),
     saying("cannot trace '__main__.outer.<locals>.Other' here")),
    ("paths of files", saying("see /home/a/model.py:3 now"), saying("see /srv/b/c/net.py:77 now")),
    ("sizes", saying("got torch.Size([1, 3]) and [2, 4]"), saying("got torch.Size([8]) and [s0, 9]")),
    ("floats", saying("difference 1e-05 of 0.25"), saying("difference 3.75 of 12.5e3")),
    ("colours", saying("\x1b[31mbad\x1b[0m"), saying("bad")),
    ("white space", saying("bad  thing\n"), saying("bad thing")),
    ("nodes of a printed graph", saying("in %add_3 it fails"), saying("in %mul it fails")),
    ("modules of delegates", saying("in lowered_module_0"), saying("in lowered_module_12")),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), [row[1:] for row in SAME], ids=[row[0] for row in SAME])
def test_it_does_not_count(one: Failure, other: Failure) -> None:
    assert one != other
    assert EXACT.same(signature_of(one), other)
    assert EXACT.same(signature_of(other), one)


WRONG_SHAPE = link("RuntimeError", "The size of tensor a must match", "torch._refs:add")
#: (what differs, one fault, another; the strictest levels that still take them for one)
DIFFERENT = [
    ("the cause behind one pass wrapper, its message", MIXED,
     wrapped("FuseBatchNormPass", not_fake()), (SITE, TYPE)),
    ("the cause behind one pass wrapper, its type", MIXED,
     wrapped("FuseBatchNormPass", WRONG_SHAPE), ()),
    ("the pass", MIXED, wrapped("RemoveAssertsTransform", fake_mode()), (SITE, TYPE)),
    ("the pass, named only by the wrapper", wrapped("A", fake_mode(), passes=False),
     wrapped("B", fake_mode(), passes=False), (SITE, TYPE)),
    ("the stage", guard(), replace(guard(), stage=Stage.PARTITION), ()),
    ("the operator of a violated spec", spec_violation(),
     spec_violation("torch._ops.aten.linalg_qr.default"), (SITE, TYPE)),
    ("the missing kernel", missing_out("aten::a"), missing_out("aten::b"), (SITE, TYPE)),
    ("the field of a view spec", view_spec(), view_spec("nbytes", "16", "8"), (SITE, TYPE)),
    ("the raise site", through("torch.export:export"), through("torch._refs:add"), (TYPE,)),
    ("a longer chain", Failure(Stage.PREPROCESS, MIXED.chain[1:]), MIXED, ()),
    ("the kind of the tagged user", tagged(user="output"), tagged(user="aten_add_tensor"),
     (SITE, TYPE)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("one", "other", "levels"), [row[1:] for row in DIFFERENT], ids=[row[0] for row in DIFFERENT]
)
def test_it_counts(one: Failure, other: Failure, levels: tuple[MatchRule, ...]) -> None:
    assert not EXACT.same(signature_of(one), other)
    for rule in (SITE, TYPE):
        assert rule.same(signature_of(one), other) == (rule in levels), rule


def test_a_level_never_accepts_what_a_laxer_one_refuses() -> None:
    failures = [row[1] for row in TABLE] + [row[2] for row in DIFFERENT]
    for wanted in map(signature_of, failures):
        for failure in failures:
            accepted = [rule.same(wanted, failure) for rule in (EXACT, SITE, TYPE)]
            assert accepted == sorted(accepted)


@pytest.mark.parametrize(
    ("regex", "stage", "same"),
    [
        ("fake modes NYI", Stage.PREPROCESS, True),
        ("running the '.*BatchNorm", Stage.PREPROCESS, True),  # any link of the chain
        ("no such words", Stage.PREPROCESS, False),
        ("fake modes NYI", Stage.PARTITION, False),
    ],
)
def test_a_regex_looks_at_the_whole_chain_in_the_same_stage(
    regex: str, stage: Stage, same: bool
) -> None:
    rule = MatchRule(regex=regex)
    other = Signature(Stage.PREPROCESS, ("Other",), "other:place", "other")
    assert rule.same(other, replace(MIXED, stage=stage)) is same


def test_headlines_are_one_short_line() -> None:
    assert MIXED.headline.startswith("Exception: An error occurred when running the 'FuseBatchNorm")
    assert MIXED.cause.startswith("AssertionError: Mixing fake modes NYI x.fake_mode=<torch._sub")
    assert "0x" not in MIXED.cause
    assert spec_violation().headline.startswith("SpecViolationError: Operator torch._ops")
    assert saying("").headline == "RuntimeError"
    assert len(saying("x" * 999).headline) <= 300


def test_the_blamed_pass_is_the_one_in_the_message() -> None:
    assert named_pass(MIXED) == "FuseBatchNormPass"
    assert named_pass(guard()) == ""


@given(st.text(max_size=60))
def test_normalising_never_fails_and_is_short_and_stable(message: str) -> None:
    once = normalise_message(message)
    assert len(once) <= 400
    assert "\n" not in once
    assert once == normalise_message(message)


_WORDS = st.lists(st.sampled_from("Expected node to be of rank but got tensor".split()), max_size=6)


@given(_WORDS, st.integers(0, 10**6), st.integers(0, 10**6), st.sampled_from(
    ["0x{:x}", "u{}", "s{}", "tag{}", "[{}, 3]", "torch.Size([{}])", "%add_{}", "{}", "{}.5",
     "p_layer_{}_weight", "/home/user{}/net.py", "lowered_module_{}", "aten_add_tensor_{}"]))  # fmt: skip
def test_numbers_within_names_and_values_never_count(
    words: list[str], one: int, other: int, form: str
) -> None:
    message = " ".join([*words, "<here>", *words])
    texts = [normalise_message(message.replace("<here>", form.format(n))) for n in (one, other)]
    assert texts[0] == texts[1]
    assert not re.search(rf"\b{one}\b", texts[0]) or str(one) in message
