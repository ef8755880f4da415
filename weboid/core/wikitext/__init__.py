"""Wikitext and what each wiki writes in it, pure: the settings of wikis."""
