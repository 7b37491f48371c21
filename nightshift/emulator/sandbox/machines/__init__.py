"""Instances as what they say: files and outputs that the node reads, healthy or changed on purpose."""
