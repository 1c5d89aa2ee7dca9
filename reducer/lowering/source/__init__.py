"""Models that fail before there is a graph: as Python source."""
