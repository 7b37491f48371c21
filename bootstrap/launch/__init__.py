"""The training job of a node: started, watched, restarted, ended, and nothing of it left behind."""
