"""Nodes as namespaces of this machine: network, metadata, devices and a boot, without a virtual machine."""
