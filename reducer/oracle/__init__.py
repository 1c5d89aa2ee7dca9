"""The parent's side of judging: a worker's client, limits, the verdict store, the judge."""
