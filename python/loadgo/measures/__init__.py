"""The figures of one run: its summary, meters, audits, charges, and conditions on figures."""
