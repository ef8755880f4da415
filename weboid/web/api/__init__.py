"""The handlers of addresses for programs."""
