"""The node agent: what every node runs, from the first boot to the last drain.

Runs on a node's own Python (3.10 and up) from an artifact with its libraries in it. Knows catalog, plan and
records; knows nothing of Pulumi, settings or the command line.
"""
