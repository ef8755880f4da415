-- The JSON page that says which wikis are watched ([feed] watched), by its name, as it was last read.
CREATE TABLE watch_list (
    source text PRIMARY KEY,
    seen timestamptz NOT NULL,
    text text,
    fault text NOT NULL DEFAULT ''
);
