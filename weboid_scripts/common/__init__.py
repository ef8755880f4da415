"""What all scripts share: their options, how they begin and end, what they ask of a wiki and how they save there."""
