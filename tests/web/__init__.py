"""A web that misbehaves: on loopback, over raw sockets where exactness needs it, with real TLS."""
