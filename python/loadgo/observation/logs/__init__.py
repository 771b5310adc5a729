"""Readers of logs that say when people typed and which programs began: of sudo, tlog, auditd, atuin and shells."""
