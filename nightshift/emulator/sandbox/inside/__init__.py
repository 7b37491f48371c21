"""What runs inside a node: its pid 1 and the programs that stand in for an image's. Standard library only."""
