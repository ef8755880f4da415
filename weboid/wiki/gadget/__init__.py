"""The gadget on a wiki: which pages it consists of, the user script made of the same files, saving them (G-1).

What the gadget does is written in ``gadget/``. One law: what is built here is the files as they are; nothing is
compressed or compiled, so that an interface administrator can read on the wiki what was reviewed in the repository.
"""
