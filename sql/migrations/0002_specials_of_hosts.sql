-- What a host needs (C-6), by kind (core/specials.py), with the first and the last day on which it was seen.
CREATE TABLE special (
    host_key bigint NOT NULL,
    bucket smallint NOT NULL,
    kind smallint NOT NULL,
    since smallint NOT NULL,
    until smallint NOT NULL,
    PRIMARY KEY (bucket, host_key, kind)
);
