"""Text that PostgreSQL can hold: names of files and words of other programs may have any bytes."""


def storable(text: str) -> str:
    """The text without NUL, with lone surrogates (bytes of a file's name that are no UTF-8) as escapes (`\\udcff`)."""
    return text.replace("\0", "").encode("utf-8", "backslashreplace").decode("utf-8")
