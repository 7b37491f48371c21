"""The runtime of a node: a sealed folder with its own CPython, torch and all that comes with it."""
