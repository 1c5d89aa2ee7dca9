"""The worker's side: the only folder that imports torch and executorch."""
