"""The search over a limit in place of the number of users: which value keeps the targets."""
