"""Pages that loadgo serves on the loopback: their address with a secret, and the checks of each request."""
