-- Second looks: URLs about to be called dead that crawlers of another place check, too, and the places that do so.
CREATE TABLE second_look (
    look uuid PRIMARY KEY,
    bucket smallint NOT NULL,
    host_key bigint NOT NULL,
    url_key bigint NOT NULL,
    place text NOT NULL,
    asked timestamptz NOT NULL DEFAULT now(),
    ends timestamptz NOT NULL,
    taken timestamptz,
    taken_by text,
    answered timestamptz,
    outcome text
);

CREATE TABLE vantage_place (
    place text PRIMARY KEY,
    seen timestamptz NOT NULL
);
