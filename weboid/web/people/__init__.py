"""What signed-in people may do: reports, replacements, their account, administration."""
