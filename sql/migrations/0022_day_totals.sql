-- What crawlers and feeders did on each day of the last 400 days, for pictures (O-5): one row for each day and figure.
CREATE TABLE day_total (
    day smallint NOT NULL,
    figure text NOT NULL,
    total bigint NOT NULL,
    PRIMARY KEY (day, figure)
);
