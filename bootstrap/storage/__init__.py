"""The node's volumes: claimed, found, proven, mounted; and given back. Blank or ours, else untouched."""
