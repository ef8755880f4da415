-- Sessions that people ended before their time, and how wikis name their namespaces.
CREATE TABLE ended_session (
    session bytea PRIMARY KEY,
    until timestamptz NOT NULL
);
CREATE INDEX ended_session_until ON ended_session (until);

CREATE TABLE namespace (
    wiki integer NOT NULL REFERENCES wiki,
    namespace integer NOT NULL,
    name text NOT NULL,
    is_alias boolean NOT NULL,
    is_cased boolean NOT NULL,
    PRIMARY KEY (wiki, name)
);
