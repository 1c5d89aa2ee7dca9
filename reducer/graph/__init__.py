"""Questions about a case's graph, and edits of it that keep it a program. Pure functions."""
