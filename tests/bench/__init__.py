"""Measurements: commands that print tables, never tests with a time limit."""
