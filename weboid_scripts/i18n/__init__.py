"""The scripts' messages, in the form and the folders that pywikibot's ``i18n`` reads."""
