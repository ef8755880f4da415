"""From a question to the values of its answer: live links, stored findings."""
