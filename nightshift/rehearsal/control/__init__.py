"""The deployed site played forward: a queue of events, AWS's part of each, and whatever runs on the nodes."""
