"""Does a program that was saved and loaded lower to the same ``.pte``?"""

from reducer.emit.properties.difference import SOURCE as DIFFERENCE

NAME = "lost-by-saving"
TITLE = "LostBySaving"
SOURCE = f'''\
import io

import torch


{DIFFERENCE}

def interesting(exported, lower):
    """Lower the program, and what is loaded after it was saved, and say how the results differ."""
    file = io.BytesIO()
    torch.export.save(exported, file)
    file.seek(0)
    loaded = torch.export.load(file)
    direct = lower(exported)
    try:
        told = difference(direct, lower(loaded))
    except Exception as error:
        told = f"lowering raises {{type(error).__name__}}"
    return f"saved and loaded: {{told}}" if told else False
'''
