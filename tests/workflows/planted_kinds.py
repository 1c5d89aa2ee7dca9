"""Passes that fail in one way each when they meet an operator: what a compiler's bug can look like."""

from __future__ import annotations

import ctypes
import itertools
import os
import time
from pathlib import Path

from executorch.exir.dialects._ops import ops
from torch.fx.passes.infra.pass_base import PassBase, PassResult

#: A test puts a path of its own here: runs are counted across processes.
COUNTER = Path("planted-counter")


class OnOperator(PassBase):
    """Calls ``fail`` for each call of an operator."""

    operator = "tanh"

    def call(self, graph_module):
        for node in list(graph_module.graph.nodes):
            if node.op == "call_function" and self.operator in str(node.target):
                self.fail(node)
        graph_module.recompile()
        return PassResult(graph_module, True)

    def fail(self, node):
        raise NotImplementedError


class Segfaults(OnOperator):
    def fail(self, node):
        ctypes.string_at(0)


class Exits(OnOperator):
    def fail(self, node):
        os._exit(3)


class Hangs(OnOperator):
    """In native code, with the interpreter locked."""

    def fail(self, node):
        ctypes.PyDLL(None).pause()


class EatsMemory(OnOperator):
    def fail(self, node):
        eaten = []
        while True:
            eaten.append(b"x" * (32 << 20))
            time.sleep(0.005)


class WrongWhenLarge(OnOperator):
    """relu gets an upper bound of 6."""

    operator = "relu"

    def fail(self, node):
        node.target = ops.edge.aten.hardtanh.default
        node.args = (*node.args, 0.0, 6.0)


class FailsNowAndThen(OnOperator):
    """Each third time; a file counts."""

    def fail(self, node):
        count = int(COUNTER.read_text()) + 1 if COUNTER.exists() else 0
        COUNTER.write_text(str(count))
        if count % 3 == 0:
            raise RuntimeError("planted: not this time")


class CountsRuns(OnOperator):
    """The number of the run gets into the program."""

    runs = itertools.count(1)

    def fail(self, node):
        node.target = ops.edge.aten.leaky_relu.default
        node.args = (node.args[0], float(next(self.runs)))


class LooksAtTheMode(OnOperator):
    """Something of the fake mode that is another one in a program which was loaded."""

    def fail(self, node):
        if not node.meta["val"].fake_mode.allow_fallback_kernels:
            node.target = ops.edge.aten.sigmoid.default


class FixesSizes(PassBase):
    """Views get the size that a dynamic dimension has in the example."""

    def call(self, graph_module):
        for node in graph_module.graph.nodes:
            if node.op == "call_function" and "view" in str(node.target):
                node.args = (node.args[0], [int(size) for size in node.meta["val"].shape])
        graph_module.recompile()
        return PassResult(graph_module, True)


class SwapsOperands(PassBase):
    """The subtraction of the two halves of the network is the wrong way round."""

    def call(self, graph_module):
        for node in graph_module.graph.nodes:
            if node.op == "call_function" and "sub.Tensor" in str(node.target):
                node.args = (node.args[1], node.args[0])
        graph_module.recompile()
        return PassResult(graph_module, True)
