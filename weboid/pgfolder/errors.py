"""The exceptions of this package. There is a class only if some caller treats it differently from the others."""


class FolderError(Exception):
    """The database of a folder cannot be made, started or used; the text says what to do next."""


class FolderUnavailable(FolderError):
    """The database cannot be used now, and waiting helps: it is starting, or its disk is full."""
