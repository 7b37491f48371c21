"""The people of a node: a login and a home each, and a word to their terminals."""
