"""How does a reduction look: while it runs, when it is over, and to a machine?"""
