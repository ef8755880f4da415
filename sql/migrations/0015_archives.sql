-- Web archives: the chosen copies of URLs, what services said, what waits to be looked up (A-1 … A-3).

CREATE TABLE snapshot (
    host_key bigint NOT NULL,
    url_key bigint NOT NULL,
    stamp bigint NOT NULL CHECK (stamp BETWEEN 19900101000000 AND 99991231235959),
    bucket smallint NOT NULL,
    archive smallint NOT NULL,
    origin smallint NOT NULL,
    due smallint NOT NULL,
    asked smallint,
    strikes smallint NOT NULL DEFAULT 0,
    wanted smallint,
    note smallint NOT NULL DEFAULT 0,
    address text,
    PRIMARY KEY (host_key, url_key, bucket, archive)
) WITH (autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX snapshot_due ON snapshot (archive, due);

CREATE TABLE cited_copy (
    host_key bigint NOT NULL,
    url_key bigint NOT NULL,
    original_host_key bigint,
    original_url_key bigint,
    stamp bigint CHECK (stamp BETWEEN 19900101000000 AND 99991231235959),
    bucket smallint NOT NULL,
    original_bucket smallint,
    archive smallint NOT NULL,
    due smallint NOT NULL,
    PRIMARY KEY (host_key, url_key, bucket)
);
CREATE INDEX cited_copy_original ON cited_copy (original_bucket, original_host_key, original_url_key);
CREATE INDEX cited_copy_due ON cited_copy (archive, due);

CREATE TABLE lookup (
    host_key bigint NOT NULL,
    url_key bigint NOT NULL,
    bucket smallint NOT NULL,
    archive smallint NOT NULL,
    outcome smallint NOT NULL,
    asked smallint NOT NULL,
    due smallint NOT NULL,
    failures smallint NOT NULL DEFAULT 0,
    passed text,
    PRIMARY KEY (host_key, url_key, bucket, archive)
);

CREATE TABLE copy_queue (
    host_key bigint NOT NULL,
    url_key bigint NOT NULL,
    bucket smallint NOT NULL,
    rank smallint NOT NULL,
    day smallint NOT NULL,
    due smallint NOT NULL,
    waits boolean NOT NULL DEFAULT true,
    until timestamptz NOT NULL DEFAULT '-infinity',
    PRIMARY KEY (host_key, url_key, bucket)
);
CREATE INDEX copy_queue_next ON copy_queue (rank, day DESC) WHERE waits;
CREATE INDEX copy_queue_due ON copy_queue (due) WHERE NOT waits;

CREATE TABLE copy_queue_position (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    change bigint NOT NULL
);

CREATE TABLE changing_page (
    host_key bigint NOT NULL,
    url_key bigint NOT NULL,
    bucket smallint NOT NULL,
    day smallint NOT NULL,
    lifted boolean NOT NULL DEFAULT false,
    subject text,
    name text,
    PRIMARY KEY (host_key, url_key, bucket)
);

CREATE TABLE archive_service (
    archive smallint NOT NULL,
    kind smallint NOT NULL,
    free timestamptz NOT NULL DEFAULT '-infinity',
    rest_until timestamptz NOT NULL DEFAULT '-infinity',
    rest_s integer NOT NULL DEFAULT 0,
    why text NOT NULL DEFAULT '',
    day smallint NOT NULL DEFAULT 0,
    requests integer NOT NULL DEFAULT 0,
    PRIMARY KEY (archive, kind)
);

CREATE TABLE withdrawal (
    archive smallint PRIMARY KEY,
    since smallint NOT NULL,
    kept integer NOT NULL,
    dropped integer NOT NULL
);

CREATE TABLE saving (
    host_key bigint NOT NULL,
    url_key bigint NOT NULL,
    bucket smallint NOT NULL,
    day smallint NOT NULL,
    state smallint NOT NULL,
    tries smallint NOT NULL DEFAULT 0,
    next timestamptz NOT NULL DEFAULT now(),
    job text,
    why text NOT NULL DEFAULT '',
    PRIMARY KEY (host_key, url_key, bucket)
);
CREATE INDEX saving_next ON saving (state, next);

CREATE TABLE wiki_settings (
    wiki integer PRIMARY KEY REFERENCES wiki,
    day smallint NOT NULL,
    text text,
    fault text NOT NULL DEFAULT ''
);
