"""Pages and forms for people, most of them signed in: reports, replacements, accounts, administration."""
