-- The audit log, the limits of what people may do, and who is blocked (H-2, H-4).

-- name: lock_audit
-- A statement of its own, so that the next statement sees what the transactions wrote for which this one waited.
SELECT pg_advisory_xact_lock(hashtextextended('weboid people', 0))

-- name: find_refusal
-- The time of the statement, not of the transaction, which began before the wait for the lock. For people who have not
-- signed in there is no limit a minute, and a daily limit of their own.
SELECT
    EXISTS (SELECT FROM blocked WHERE subject = %(subject)s),
    %(subject)s::text <> '' AND EXISTS (
        SELECT FROM audit
        WHERE subject = %(subject)s AND action = ANY(%(paused)s::text[])
            AND moment > statement_timestamp() - interval '1 minute'
    ),
    %(daily)s <= (
        SELECT count(*) FROM (
            SELECT FROM audit
            WHERE action = ANY(%(counted)s::text[]) AND (subject = '') = (%(subject)s::text = '')
                AND moment >= date_trunc('day', statement_timestamp() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'
            LIMIT %(daily)s
        ) AS done
    )

-- name: record_audit
INSERT INTO audit (moment, action, subject, name, object, detail)
VALUES (statement_timestamp(), %(action)s, %(subject)s, %(name)s, %(object)s, %(detail)s)
RETURNING audit

-- name: list_audit
SELECT audit, moment, action, subject, name, object, detail FROM audit
WHERE audit < %(before)s
ORDER BY audit DESC
LIMIT %(limit)s

-- name: list_audit_of
SELECT audit, moment, action, subject, name, object, detail FROM audit
WHERE subject = %(subject)s AND audit < %(before)s
ORDER BY audit DESC
LIMIT %(limit)s

-- name: delete_old_audit
DELETE FROM audit
USING (
    SELECT audit FROM audit WHERE moment < %(until)s::timestamptz
    ORDER BY moment
    LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED
) AS old
WHERE audit.audit = old.audit

-- name: record_block
INSERT INTO blocked (subject, name, day, blocker, reason)
VALUES (%(subject)s, %(name)s, %(day)s, %(blocker)s, %(reason)s)
ON CONFLICT (subject) DO UPDATE
SET name = excluded.name, day = excluded.day, blocker = excluded.blocker, reason = excluded.reason

-- name: delete_block
DELETE FROM blocked WHERE subject = %(subject)s

-- name: find_block
SELECT subject, name, day, blocker, reason FROM blocked WHERE subject = %(subject)s

-- name: list_blocks
SELECT subject, name, day, blocker, reason FROM blocked ORDER BY day DESC, subject LIMIT %(limit)s

-- name: delete_reports_of
-- by shard: they are of any URLs.
-- In the order of keys, as rounds delete reports: so there are no deadlocks.
DELETE FROM report
USING (
    SELECT bucket, host_key, url_key FROM report WHERE subject = %(subject)s
    ORDER BY bucket, host_key, url_key
    FOR UPDATE
) AS gone
WHERE report.bucket = gone.bucket AND report.host_key = gone.host_key AND report.url_key = gone.url_key
RETURNING report.bucket, report.host_key

-- name: delete_domain_reports_of
DELETE FROM domain_report
USING (
    SELECT bucket, domain FROM domain_report WHERE subject = %(subject)s
    ORDER BY bucket, domain
    FOR UPDATE
) AS gone
WHERE domain_report.bucket = gone.bucket AND domain_report.domain = gone.domain

-- name: delete_replacements_of
DELETE FROM replacement
USING (
    SELECT bucket, host_key, url_key, archive FROM replacement WHERE subject = %(subject)s
    ORDER BY bucket, host_key, url_key, archive
    FOR UPDATE
) AS gone
WHERE replacement.bucket = gone.bucket AND replacement.host_key = gone.host_key
    AND replacement.url_key = gone.url_key AND replacement.archive = gone.archive

-- name: delete_open_reverts_of
-- What an administrator has reviewed stays.
DELETE FROM revert
USING (SELECT revert FROM revert WHERE subject = %(subject)s AND subject <> '' AND state = 0 ORDER BY revert FOR UPDATE) AS gone
WHERE revert.revert = gone.revert

-- name: list_host_names
SELECT DISTINCT host.host
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[]) AS given (bucket, host_key)
JOIN host USING (bucket, host_key)
