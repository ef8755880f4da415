-- How far a standby has come behind its primary, by the log of writes, in bytes.

-- name: find_end
SELECT (pg_current_wal_insert_lsn() - '0/0')::float8

-- name: find_replayed
-- Of a server that is none any more also how far it has come itself.
SELECT pg_is_in_recovery(),
    (CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_insert_lsn() END - '0/0')::float8
