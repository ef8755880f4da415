"""From a query for pages to its answer, by stages: query, live, lookup, report, page."""
