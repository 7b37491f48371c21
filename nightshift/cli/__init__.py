"""The operator's verbs. Each is a pure part (facts -> answer) and an edge that gathers the facts."""
