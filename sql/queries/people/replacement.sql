-- What people suggest instead of dead URLs: one replacement, and one snapshot of each archive (A-4).

-- name: record_replacement
-- An earlier suggestion is replaced, and the new one waits for its check. The same target again changes nothing.
INSERT INTO replacement (bucket, host_key, url_key, archive, day, due, target, subject, name)
SELECT bucket, host_key, url_key, %(archive)s, %(day)s, %(day)s, %(target)s, %(subject)s, %(name)s
FROM url
WHERE bucket = %(bucket)s AND host_key = %(host_key)s AND url_key = %(url_key)s
ON CONFLICT (bucket, host_key, url_key, archive) DO UPDATE
SET day = excluded.day, asked = NULL, due = excluded.due, strikes = 0, works = false, target = excluded.target,
    subject = excluded.subject, name = excluded.name
WHERE replacement.target <> excluded.target
RETURNING archive

-- name: find_replacements
SELECT bucket, host_key, url_key, archive, target, day, asked, due, strikes, works, subject, name
FROM replacement
WHERE bucket = %(bucket)s AND host_key = %(host_key)s AND url_key = %(url_key)s
ORDER BY archive

-- name: lease_replacements
-- fan-out: the few that are due, in any buckets. Those that another worker has just taken are skipped. The new day is
-- the lease: if the worker ends without a result, the suggestion is due again on that day.
WITH taken AS MATERIALIZED (
    SELECT bucket, host_key, url_key, archive FROM replacement
    WHERE due <= %(day)s AND (archive <> 0) = coalesce(%(archived)s::boolean, archive <> 0)
    ORDER BY due
    LIMIT %(limit)s
    FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE replacement SET due = %(until)s
FROM taken
WHERE replacement.bucket = taken.bucket AND replacement.host_key = taken.host_key
    AND replacement.url_key = taken.url_key AND replacement.archive = taken.archive
RETURNING replacement.bucket, replacement.host_key, replacement.url_key, replacement.archive, replacement.target,
    replacement.day, replacement.asked, replacement.due, replacement.strikes, replacement.works, replacement.subject,
    replacement.name

-- name: record_checked
-- Only for the target that was checked: there may be another one by now.
UPDATE replacement SET asked = %(asked)s, due = %(due)s, strikes = %(strikes)s, works = %(works)s
WHERE bucket = %(bucket)s AND host_key = %(host_key)s AND url_key = %(url_key)s AND archive = %(archive)s
    AND target = %(target)s

-- name: delete_replacement
-- Only the target that the person saw: there may be another one by now.
DELETE FROM replacement
WHERE bucket = %(bucket)s AND host_key = %(host_key)s AND url_key = %(url_key)s AND archive = %(archive)s
    AND target = %(target)s
