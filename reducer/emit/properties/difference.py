"""How do two results of lowering differ? By their bytes; the operators say of what kind that is."""

#: The function ``difference(first, second)``, for the source of a property: a reason, or "".
SOURCE = '''\
def operators(program):
    """What the lowered graph calls, in order."""
    return [str(node.target) for node in program.exported_program().graph.nodes]


def difference(first, second):
    """How two lowered programs differ."""
    if first.buffer == second.buffer:
        return ""
    same = operators(first) == operators(second)
    return "the same operators, other bytes" if same else "other operators"
'''
