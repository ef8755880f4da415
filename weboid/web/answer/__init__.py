"""From a request for pages to the values of its answer: live links, stored findings."""
