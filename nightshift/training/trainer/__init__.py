"""The trainer that ships: a vision transformer on folders of images, or on made-up ones, across shifts."""
