"""What the deployed resources of one site say: read from AWS, kept as plain values and JSON."""
