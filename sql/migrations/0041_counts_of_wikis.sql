-- What the page of a wiki shows (W-6): counts of each day, and where its dead links are; and the dead links of a wiki by
-- the day since when they are dead.
CREATE TABLE wiki_total (
    wiki integer NOT NULL REFERENCES wiki,
    day smallint NOT NULL,
    pages integer NOT NULL,
    links bigint NOT NULL,
    dead integer NOT NULL,
    repaired integer NOT NULL,
    doubtful integer NOT NULL,
    died integer NOT NULL,
    back integer NOT NULL,
    sampled boolean NOT NULL,
    PRIMARY KEY (wiki, day)
);

CREATE TABLE wiki_place (
    wiki integer NOT NULL REFERENCES wiki,
    kind smallint NOT NULL,
    subject text NOT NULL,
    dead integer NOT NULL,
    repaired integer NOT NULL,
    PRIMARY KEY (wiki, kind, subject)
);

CREATE INDEX dead_since ON dead (wiki, since, page, bucket, host_key, url_key) WHERE rule <> 1;
