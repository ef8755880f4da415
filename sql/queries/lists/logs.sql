-- What is new in the two logs: of verdict changes (U-10) and of what people did (H-4), for kept answers.

-- name: find_newest
-- The numbers that were assigned last in each log, whether their lines are committed or not; on a standby, where the
-- sequences are ahead and nobody is seen writing, those up to which all are.
SELECT
    CASE WHEN pg_is_in_recovery() THEN settled.change WHEN changes.is_called THEN changes.last_value ELSE 0 END,
    CASE WHEN pg_is_in_recovery() THEN settled.audit WHEN audits.is_called THEN audits.last_value ELSE 0 END
FROM settled, change_change_seq AS changes, audit_audit_seq AS audits

-- name: list_writers
-- The transactions that have written to one of the logs and not ended yet.
SELECT virtualtransaction FROM pg_locks
WHERE locktype = 'relation' AND relation IN ('change'::regclass, 'audit'::regclass) AND mode = 'RowExclusiveLock'
    AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())

-- name: record_settled
-- one row: there is one place.
UPDATE settled SET change = greatest(change, %(change)s), audit = greatest(audit, %(audit)s)
WHERE change < %(change)s OR audit < %(audit)s

-- name: list_new_changes
-- fan-out: the log in its order.
SELECT bucket, host_key, url_key FROM change WHERE change > %(after)s ORDER BY change LIMIT %(limit)s

-- name: list_new_audit
-- fan-out: the log in its order.
SELECT action, object, detail FROM audit WHERE audit > %(after)s ORDER BY audit LIMIT %(limit)s
