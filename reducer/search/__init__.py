"""Algorithms over any sequence and a predicate: no case, no process, no printing."""
