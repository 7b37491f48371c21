"""The verdict on a node: it counts only if every check passed. Fails closed."""
