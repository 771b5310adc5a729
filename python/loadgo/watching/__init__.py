"""Watching a run or this host while it goes: the followed records, the screen, the web page and its server."""
