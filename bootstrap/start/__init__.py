"""From an empty machine to a running agent: user data, fetch, install, start."""
