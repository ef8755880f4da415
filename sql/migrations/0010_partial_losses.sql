-- What is seen of groups of hosts by day, so that a part of the net that is lost to us alone is recognised (C-16).

CREATE TABLE loss_tally (
    subject text NOT NULL,
    day smallint NOT NULL,
    answered integer NOT NULL,
    more integer NOT NULL,
    still integer NOT NULL,
    back integer NOT NULL,
    failed bigint[] NOT NULL,
    PRIMARY KEY (subject, day)
);
