-- People: what they report and suggest, who did what, and how much anybody may ask.

CREATE TABLE report (
    host_key bigint NOT NULL,
    url_key bigint NOT NULL,
    bucket smallint NOT NULL,
    day smallint NOT NULL,
    subject text NOT NULL,
    name text NOT NULL,
    PRIMARY KEY (bucket, host_key, url_key)
);
CREATE INDEX report_subject ON report (subject);
CREATE INDEX report_day ON report (day);

CREATE TABLE domain_report (
    bucket smallint NOT NULL,
    domain text NOT NULL,
    day smallint NOT NULL,
    subject text,
    name text,
    PRIMARY KEY (bucket, domain)
);
CREATE INDEX domain_report_subject ON domain_report (subject);

CREATE TABLE replacement (
    host_key bigint NOT NULL,
    url_key bigint NOT NULL,
    bucket smallint NOT NULL,
    archive smallint NOT NULL,
    day smallint NOT NULL,
    asked smallint,
    due smallint NOT NULL,
    strikes smallint NOT NULL DEFAULT 0,
    works boolean NOT NULL DEFAULT false,
    target text NOT NULL,
    subject text NOT NULL,
    name text NOT NULL,
    PRIMARY KEY (bucket, host_key, url_key, archive)
);
CREATE INDEX replacement_subject ON replacement (subject);
CREATE INDEX replacement_due ON replacement (due);

CREATE TABLE audit (
    audit bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    moment timestamptz NOT NULL DEFAULT now(),
    action text NOT NULL,
    subject text NOT NULL,
    name text NOT NULL,
    object text NOT NULL,
    detail text NOT NULL
);
CREATE INDEX audit_subject ON audit (subject, audit);
CREATE INDEX audit_moment ON audit (moment);

CREATE TABLE blocked (
    subject text PRIMARY KEY,
    name text NOT NULL,
    day smallint NOT NULL,
    blocker text NOT NULL,
    reason text NOT NULL
);

CREATE UNLOGGED TABLE throttle (
    key bytea PRIMARY KEY,
    free timestamptz NOT NULL
);

CREATE TABLE throttle_key (
    day smallint PRIMARY KEY,
    key bytea NOT NULL
);
