"""Was all of it delegated? Which operators were not, as far as there is something to delegate to."""

NAME = "not-delegated"
TITLE = "NotDelegated"
SOURCE = '''\
def interesting(edge):
    """Name the operators that no delegate took: what remains beside the delegates' calls."""
    left = set()
    for node in edge.exported_program().graph.nodes:
        name = str(getattr(node.target, "_op", node.target))
        if node.op == "call_function" and name != "executorch_call_delegate":
            left.add(name)
    left.discard("<built-in function getitem>")
    return f"not delegated: {', '.join(sorted(left))}" if left else False
'''
