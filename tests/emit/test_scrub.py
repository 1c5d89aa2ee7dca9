"""Does nothing private get through, and does the signature still match what it matched?"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reducer.core.diagnosis import INVARIANTS
from reducer.core.signature import ChainLink, Failure, Frame, normalise_message, signature_of
from reducer.core.stage import Stage
from reducer.emit.failure_check import fixed_words
from reducer.emit.scrub import Scrubber, people_here

WORDS = frozenset({"VaultNet", "vault_attn", "orion_model", "weight", "layers", "shared"})
SCRUBBER = Scrubber(words=WORDS, people={"annalou": "<user>", "bigbox7": "<host>"})

#: (what may stand in a message, the part of it that must go)
PRIVATE = [
    ("/home/annalou/orion_model.py", "annalou"),
    ("/Users/annalou/My Models/orion.py", "Models"),
    ("'/Users/annalou/My Models/orion.py'", "orion"),
    ("C:\\Users\\Annette\\net.py", "Annette"),
    ('"C:\\Program Files\\Annette Smith\\net.py"', "Smith"),
    ("\\\\nas3\\models\\net.bin", "nas3"),
    ("~/vaults/net.py", "vaults"),
    ("loaded from:/srv/vaults/net.bin", "vaults"),
    ("checkpoints/vaults/net.safetensors", "vaults"),
    ("file:///srv/vaults/net.bin", "vaults"),
    ("s3://vaults/net.bin", "vaults"),
    ("https://annette:pw@models.example.com/x", "annette"),
    ("annette.smith@example.com", "annette"),
    ("root@10.1.2.3", "10.1"),
    ("192.168.0.17", "192"),
    ("gpu-4.cluster.corp", "gpu-4"),
    ("bigbox7", "bigbox7"),
    ("user annalou", "annalou"),
    ("hf_abcdefghijklmnopqrst", "abcdef"),
    ("ghp_abcdefghijklmnopqrst0123", "abcdef"),
    ("github_pat_11ABCDEFG_abcdefgh", "ABCDEFG"),
    ("AKIAIOSFODNN7EXAMPLE", "IOSFODNN"),
    ("Authorization: Bearer abc.def-123456", "abc.def"),
    ("api_key='zx81zx81zx81'", "zx81"),
    ("HF_TOKEN=zx81zx81zx81", "zx81"),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcdef", "hbGci"),
    ("-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----", "MIIEow"),
    ("tensor([0.1234, -5.678], grad_fn=<Foo>)", "1234"),
    ("Parameter containing:\ntensor([[0.1234, 2.5],\n [1.0, 2.0]])", "1234"),
    ("Fill(kind='literal', values=(0.1234,))", "1234"),
    ("[0.1234, -0.5, 3.0e-2]", "1234"),
    ("orion_model.VaultNet.vault_attn.weight", "ault"),
    ("self.vault_attn", "vault"),
    ('File "/home/annalou/orion_model.py", line 7, in forward_secretly\n    x = self.head(x)', "secretly"),
]  # fmt: skip

#: What a maintainer needs, and must be left as it is.
NEEDED = [
    "executorch.exir.pass_base:call (line 867)",
    "An error occurred when running the 'FuseBatchNormPass' pass after the following passes: []",
    "torch.Size([1, 8, 24]) and float32, s0/2/4 < 3",
    "aten_add_tensor of aten::add.Tensor(Tensor self) -> Tensor",
    "torch 2.13.0+cpu, see https://github.com/pytorch/executorch/issues/1",
    "shared-state and one-fake-mode",
    "layers.0.weight",
    'File ".../torch/fx/node.py", line 3, in call\n    foo()',
    "and/or, x @ w, x[..., 0], <lambda>",
]


@pytest.mark.parametrize(("text", "secret"), PRIVATE, ids=[text[:28] for text, _ in PRIVATE])
def test_what_is_private_goes(text: str, secret: str) -> None:
    assert secret in text
    assert secret not in SCRUBBER.text(f"cannot use {text} here")
    assert secret not in SCRUBBER.text(f"({text})")


@pytest.mark.parametrize("text", NEEDED)
def test_what_a_maintainer_needs_stays(text: str) -> None:
    assert SCRUBBER.text(text) == text


def test_files_of_libraries_are_named_from_the_library_on() -> None:
    for folder in ("/opt/v/lib/python3.11/site-packages", "C:\\v\\Lib\\site-packages"):
        separator = folder[-14]
        path = separator.join([folder, "torch", "fx", "node.py"])
        assert SCRUBBER.text(f'File "{path}", line 3') == 'File ".../torch/fx/node.py", line 3'
    assert SCRUBBER.text("/usr/lib/python3.11/functools.py:9") == ".../functools.py:9"


def test_names_are_kept_on_demand_and_nothing_else() -> None:
    kept = replace(SCRUBBER, keep=True)
    assert kept.text("vault_attn in /home/annalou/orion_model.py") == (
        "vault_attn in .../orion_model.py"
    )
    for text, secret in PRIVATE[:1] + PRIVATE[12:31]:
        assert secret not in kept.text(text)


def test_frames_of_user_code_say_nothing() -> None:
    frames = (Frame("orion_model", "secretly", 3), Frame("torch.fx", "call", 9))
    link = ChainLink("ValueError", "no vault_attn", frames)
    scrubbed = SCRUBBER.noun(Failure(Stage.PREPROCESS, (link,)))
    assert scrubbed.stage is Stage.PREPROCESS
    assert scrubbed.chain[0].frames == (Frame("<module>", "<function>", 3), frames[1])
    assert scrubbed.chain[0].message == "no <name>"


def test_words_of_ours_are_no_ones_own() -> None:
    scrubber = Scrubber(words=frozenset({"shared", "metadata", "same"}))
    assert scrubber.text(", ".join(INVARIANTS)) == ", ".join(INVARIANTS)


def test_people_are_told_from_words_that_everybody_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: "annalou")
    monkeypatch.setattr("socket.gethostname", lambda: "bigbox7.example.org")
    assert people_here()["annalou"] == "<user>"
    assert people_here()["bigbox7"] == "<host>"
    monkeypatch.setattr("getpass.getuser", lambda: "root")
    assert "root" not in people_here()


messages = st.lists(
    st.sampled_from([text for text, _ in PRIVATE] + NEEDED + ["in", "of", "\n", "'x'", "3"]),
    min_size=1,
    max_size=6,
).map(" ".join)


@given(messages)
def test_scrubbing_again_changes_nothing(message: str) -> None:
    once = SCRUBBER.text(message)
    assert SCRUBBER.text(once) == once
    assert not [secret for text, secret in PRIVATE if text in message and secret in once]


@given(messages)
def test_the_check_of_a_scrubbed_signature_accepts_what_it_accepted(message: str) -> None:
    """What a script looks for in a message is in it, though the signature was scrubbed."""
    link = ChainLink("ValueError", message, (Frame("torch.fx", "call"),))
    signature = signature_of(Failure(Stage.PREPROCESS, (link,)))
    found = " ".join(message.split())
    before = [words for words in fixed_words(signature.message) if words not in found]
    after = [words for words in fixed_words(SCRUBBER.noun(signature).message) if words not in found]
    assert len(after) <= len(before)


def test_printed_tensors_do_not_tell_failures_apart() -> None:
    small = normalise_message("got tensor([0.5]) of x")
    assert small == normalise_message("got tensor([[0.1, 2.0],\n [3.0, 1e-3]], dtype=float64) of x")
    assert small == normalise_message(SCRUBBER.text("got tensor([0.5, 0.25]) of x"))
