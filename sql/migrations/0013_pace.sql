-- Turns that count from the sending of a request, and how fast the crawl goes.

-- A request of the worker that had the last turn is on its way: `free` is then the latest moment, not the expected one.
ALTER TABLE slot ADD COLUMN held boolean NOT NULL DEFAULT false;

-- How many URLs were moved forward on a day because somebody looked at their pages. One row at most.
CREATE TABLE moved_forward (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    day smallint NOT NULL,
    urls integer NOT NULL
);
