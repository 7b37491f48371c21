"""Faults: named, placed in time, struck, and judged by how they ended."""
