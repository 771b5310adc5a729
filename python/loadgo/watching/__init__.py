"""A run or this host shown while it goes: the followed records, the pictures, the page and its server."""
