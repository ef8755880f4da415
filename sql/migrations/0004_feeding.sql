-- What feeding needs: how far each pass and stream has come, which pages wait to be read, what is spam, what is wrong.

-- Of a page: what tells that its links may have changed (MediaWiki's time of its links, as a number); NULL = unknown.
ALTER TABLE page ADD COLUMN mark bigint;

-- How long the last completed pass over a wiki took: in days of the calendar we live by, and in real seconds.
ALTER TABLE wiki ADD COLUMN pass_days smallint, ADD COLUMN pass_s integer;

-- The pass under way over a wiki (P-5): `step` counts its criteria and phases, `place` says where to go on in it.
CREATE TABLE pass (
    wiki integer PRIMARY KEY REFERENCES wiki,
    started smallint NOT NULL,
    begun timestamptz NOT NULL DEFAULT now(),
    step smallint NOT NULL,
    place text NOT NULL,
    plan text NOT NULL
);

-- Pages that somebody handed to the feeder between two passes (P-6, P-8): by id, or by title with id 0.
-- They are read once the source has come past `seen`.
CREATE TABLE pending (
    wiki integer NOT NULL REFERENCES wiki,
    page integer NOT NULL,
    title text NOT NULL,
    seen timestamptz NOT NULL,
    -- Whether it is known to match a criterion that its own facts do not show, such as a category tree.
    matched boolean NOT NULL,
    PRIMARY KEY (wiki, page, title)
);

-- The category trees of the criteria as the last pass found them: a page put into one of them is new there (P-6).
CREATE TABLE category (
    wiki integer NOT NULL REFERENCES wiki,
    title text NOT NULL,
    started smallint NOT NULL,
    PRIMARY KEY (wiki, title)
);

-- How far the events of a list of streams have taken effect: written in the transaction of the effects (P-6).
CREATE TABLE stream_position (
    streams text PRIMARY KEY,
    last_event_id text NOT NULL,
    moment timestamptz NOT NULL
);

-- Spam lists (L-3) as they were last fetched; dbname '' = the farm's own. `kind`: 0 = black, 1 = white.
CREATE TABLE spam_list (
    farm smallint NOT NULL REFERENCES farm,
    dbname text NOT NULL,
    kind smallint NOT NULL,
    day smallint NOT NULL,
    lines text NOT NULL,
    -- Lines that cannot be run, with the reason; told on the status page.
    unusable text NOT NULL,
    PRIMARY KEY (farm, dbname, kind)
);

-- A URL that is spam on a page: a fact about that page, never of the URL as such (L-8).
CREATE TABLE spam_link (
    host_key bigint NOT NULL,
    url_key bigint NOT NULL,
    wiki integer NOT NULL,
    page integer NOT NULL,
    bucket smallint NOT NULL,
    url text NOT NULL,
    PRIMARY KEY (wiki, page, bucket, host_key, url_key)
);
CREATE INDEX spam_link_url ON spam_link (bucket, host_key, url_key);

-- What an operator has to know (P-7, U-8): raised once, lowered when it is over.
CREATE TABLE alarm (
    kind text NOT NULL,
    subject text NOT NULL,
    since smallint NOT NULL,
    detail text NOT NULL,
    PRIMARY KEY (kind, subject)
);

-- What nobody uses any more, for expiry: small beside its table (U-8).
CREATE INDEX url_orphaned ON url (bucket, host_key, url_key) WHERE orphaned IS NOT NULL;
