"""One file per user story: what happens, in which order, when a command is given."""
