-- When a host may be asked again, for all workers (C-3, C-17). A crash of the server takes longer than a turn lasts.
CREATE UNLOGGED TABLE slot (
    host_key bigint NOT NULL,
    bucket smallint NOT NULL,
    free timestamptz NOT NULL,
    PRIMARY KEY (bucket, host_key)
);

-- What a page looked like, for the URLs of the sample (C-11, core/likeness.py).
CREATE TABLE portrait (
    host_key bigint NOT NULL,
    url_key bigint NOT NULL,
    fingerprint bigint,
    bucket smallint NOT NULL,
    day smallint NOT NULL,
    words smallint NOT NULL,
    title text NOT NULL,
    language text,
    author text,
    PRIMARY KEY (bucket, host_key, url_key)
);
