-- What is new in the two logs: of verdict changes (U-10) and of what people did (H-4), for kept answers.

-- name: find_newest
-- The numbers that were assigned last in each log, whether their lines are committed or not.
SELECT
    (SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM change_change_seq),
    (SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM audit_audit_seq)

-- name: list_writers
-- The transactions that have written to one of the logs and not ended yet.
SELECT virtualtransaction FROM pg_locks
WHERE locktype = 'relation' AND relation IN ('change'::regclass, 'audit'::regclass) AND mode = 'RowExclusiveLock'
    AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())

-- name: list_new_changes
-- fan-out: the log in its order.
SELECT bucket, host_key, url_key FROM change WHERE change > %(after)s ORDER BY change LIMIT %(limit)s

-- name: list_new_audit
-- fan-out: the log in its order.
SELECT action, object, detail FROM audit WHERE audit > %(after)s ORDER BY audit LIMIT %(limit)s
