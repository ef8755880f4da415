-- Turns that count from the sending of a request, and how fast the crawl goes.

-- A request of the worker that had the last turn is on its way: `free` is then the latest moment, not the expected one.
ALTER TABLE slot ADD COLUMN held boolean NOT NULL DEFAULT false;
