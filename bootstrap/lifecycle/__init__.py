"""What a node says to its group: hooks completed, boots counted."""
