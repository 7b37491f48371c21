"""Nodes of a rehearsal that are real: the bootstrap and a training job as processes of the sandbox."""
