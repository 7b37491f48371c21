"""The operator's words and the nodes' verdicts, as objects in the site's data bucket.

One adapter, the standard library only: the S3 client is given, so nodes, the command line and tests
use the same code.
"""
