"""Does lowering one program twice, in one process, give the same ``.pte``?

What another hash seed changes is not seen by this: both lowerings have the same.
"""

from reducer.emit.properties.difference import SOURCE as DIFFERENCE

NAME = "other-bytes"
TITLE = "NotDeterministic"
SOURCE = f'''\
{DIFFERENCE}

def interesting(exported, lower):
    """Lower the program twice and say how the results differ."""
    told = difference(lower(exported), lower(exported))
    return f"lowered twice: {{told}}" if told else False
'''
