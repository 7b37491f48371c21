"""The end of a node: one path for every notice, measured, within whatever time is left."""
