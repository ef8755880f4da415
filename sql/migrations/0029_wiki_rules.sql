-- Wikis with rules of their own (U-11): what is dead for them, and when that changed.
CREATE TABLE wiki_rule (
    wiki integer PRIMARY KEY REFERENCES wiki,
    rules text NOT NULL,
    begins bigint NOT NULL,
    applied boolean NOT NULL DEFAULT false
);
ALTER TABLE dead ADD COLUMN rule smallint NOT NULL DEFAULT 0;
CREATE INDEX dead_rule ON dead (wiki, page, bucket, host_key, url_key) WHERE rule <> 0;
ALTER TABLE change ADD COLUMN wiki integer NOT NULL DEFAULT 0;
