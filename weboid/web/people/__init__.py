"""What people can do, most of it signed in: reports, replacements, their account, administration."""
