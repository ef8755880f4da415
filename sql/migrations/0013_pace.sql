-- Turns that count from the sending of a request, and how fast the crawl goes.

-- A request of the worker that had the last turn is on its way: `free` is then the latest moment, not the expected one.
ALTER TABLE slot ADD COLUMN held boolean NOT NULL DEFAULT false;

-- How many URLs were moved forward on a day because somebody looked at their pages. One row at most.
CREATE TABLE moved_forward (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    day smallint NOT NULL,
    urls integer NOT NULL
);

-- How many URLs were checked on each day, of the last two months.
CREATE TABLE checked (
    day smallint PRIMARY KEY,
    urls bigint NOT NULL
);

-- How often working URLs are checked. One row, none before it was looked at first.
CREATE TABLE pace (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    interval_days smallint NOT NULL,
    changed smallint NOT NULL,
    day smallint NOT NULL,
    calm smallint NOT NULL
);

-- Hosts with more URLs than can be checked in four weeks, and in how many days they are.
CREATE TABLE big_host (
    host_key bigint NOT NULL,
    bucket smallint NOT NULL,
    urls integer NOT NULL,
    days smallint NOT NULL,
    PRIMARY KEY (bucket, host_key)
);
