"""JupyterLab for the people of a node: one each, on loopback, watched, ended before their volume is."""
