-- Tasks of the robot that administrators order (R-7), and what is kept of the places of links that they find.
ALTER TABLE robot_task
    ADD COLUMN wanted jsonb,
    ADD COLUMN state text NOT NULL DEFAULT '',
    ADD COLUMN ordered timestamptz,
    ADD COLUMN is_to_stop boolean NOT NULL DEFAULT false,
    ADD COLUMN progress jsonb NOT NULL DEFAULT '{}';

CREATE TABLE robot_place (
    task integer NOT NULL,
    number integer NOT NULL,
    host text,
    reason text,
    state text,
    size integer NOT NULL,
    places bytea NOT NULL,
    PRIMARY KEY (task, number)
);
ALTER TABLE robot_place ALTER COLUMN places SET STORAGE EXTERNAL;
