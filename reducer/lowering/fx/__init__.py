"""Between plain cases and ``torch.fx`` programs, both ways."""
