-- What the robot remembers of its tasks from run to run (R-5): tasks, URLs that they asked for, documents, and links.
CREATE TABLE robot_task (
    task integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE,
    starts text[] NOT NULL,
    orders jsonb NOT NULL,
    run integer NOT NULL,
    whole_run integer NOT NULL DEFAULT 0,
    day smallint NOT NULL,
    begun timestamptz NOT NULL DEFAULT now(),
    ended timestamptz,
    statistics jsonb NOT NULL DEFAULT '{}'
);

CREATE TABLE robot_entry (
    url_key bigint NOT NULL,
    task integer NOT NULL,
    run integer NOT NULL,
    status smallint NOT NULL,
    since smallint NOT NULL,
    asked smallint NOT NULL,
    strikes smallint NOT NULL,
    failing_since smallint,
    failing_until smallint,
    reason smallint NOT NULL,
    mime smallint,
    http smallint,
    broken boolean NOT NULL,
    was_broken boolean NOT NULL,
    size_kib integer,
    evidence integer,
    url text NOT NULL,
    target text,
    older bytea,
    PRIMARY KEY (task, url_key)
) WITH (fillfactor = 80);

CREATE TABLE robot_page (
    url_key bigint NOT NULL,
    task integer NOT NULL,
    followed boolean NOT NULL,
    content_hash bytea NOT NULL,
    etag text NOT NULL,
    modified text NOT NULL,
    ids bytea NOT NULL,
    PRIMARY KEY (task, url_key)
);

CREATE TABLE robot_link (
    url_key bigint NOT NULL,
    task integer NOT NULL,
    links bytea NOT NULL,
    PRIMARY KEY (task, url_key)
);
ALTER TABLE robot_link ALTER COLUMN links SET STORAGE EXTERNAL;
