"""Which failures are known, and do they still fail? Findings kept as plain files, for git."""
