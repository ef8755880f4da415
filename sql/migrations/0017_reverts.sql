-- Reverted repairs, as the operators of bots state them (B-6).
CREATE TABLE revert (
    revert bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    host_key bigint NOT NULL,
    url_key bigint NOT NULL,
    revision bigint NOT NULL,
    wiki integer NOT NULL REFERENCES wiki,
    page integer NOT NULL,
    bucket smallint NOT NULL,
    day smallint NOT NULL,
    state smallint NOT NULL DEFAULT 0,
    why text NOT NULL,
    reverter text NOT NULL,
    client text NOT NULL,
    reviewer text,
    UNIQUE (host_key, url_key, bucket, wiki, revision)
);
CREATE INDEX revert_state ON revert (state, revert DESC) WHERE state < 2;
