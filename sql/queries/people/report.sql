-- "It works by hand": what people say of URLs and of whole domains (H).

-- name: record_report
INSERT INTO report (bucket, host_key, url_key, day, subject, name)
VALUES (%(bucket)s, %(host_key)s, %(url_key)s, %(day)s, %(subject)s, %(name)s)
ON CONFLICT (bucket, host_key, url_key) DO UPDATE
SET day = excluded.day, subject = excluded.subject, name = excluded.name

-- name: record_domain_report
-- An assumption (half of a domain's URLs are reported) outweighs one person's report: it stays until it expires.
INSERT INTO domain_report (bucket, domain, day, subject, name)
VALUES (%(bucket)s, %(domain)s, %(day)s, %(subject)s, %(name)s)
ON CONFLICT (bucket, domain) DO UPDATE
SET day = excluded.day, subject = excluded.subject, name = excluded.name
WHERE domain_report.subject IS NOT NULL OR domain_report.day <= %(over)s

-- name: record_assumption
INSERT INTO domain_report (bucket, domain, day, subject, name)
VALUES (%(bucket)s, %(domain)s, %(day)s, NULL, NULL)
ON CONFLICT (bucket, domain) DO UPDATE
SET day = excluded.day, subject = NULL, name = NULL
WHERE domain_report.subject IS NOT NULL OR domain_report.day <= %(over)s

-- name: find_report
SELECT day, subject, name FROM report
WHERE bucket = %(bucket)s AND host_key = %(host_key)s AND url_key = %(url_key)s AND day > %(over)s

-- name: find_domain_report
SELECT day, subject, name FROM domain_report
WHERE bucket = %(bucket)s AND domain = %(domain)s AND day > %(over)s

-- name: delete_reports
-- Nearly all of these URLs have none. In the order of keys, so that there are no deadlocks.
DELETE FROM report
USING (
    SELECT bucket, host_key, url_key
    FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
        AS given (bucket, host_key, url_key)
    JOIN report AS known USING (bucket, host_key, url_key)
    ORDER BY bucket, host_key, url_key
    FOR UPDATE OF known
) AS gone
WHERE report.bucket = gone.bucket AND report.host_key = gone.host_key AND report.url_key = gone.url_key

-- name: delete_replacements
DELETE FROM replacement
USING (
    SELECT asked.* FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
        AS asked (bucket, host_key, url_key)
    JOIN replacement USING (bucket, host_key, url_key)
    ORDER BY replacement.bucket, replacement.host_key, replacement.url_key, replacement.archive
    FOR UPDATE OF replacement
) AS gone
WHERE replacement.bucket = gone.bucket AND replacement.host_key = gone.host_key
    AND replacement.url_key = gone.url_key

-- name: delete_reverts
DELETE FROM revert
USING (
    SELECT asked.* FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
        AS asked (bucket, host_key, url_key)
    JOIN revert USING (bucket, host_key, url_key)
    ORDER BY revert.bucket, revert.host_key, revert.url_key, revert.wiki, revert.revision
    FOR UPDATE OF revert
) AS gone
WHERE revert.bucket = gone.bucket AND revert.host_key = gone.host_key AND revert.url_key = gone.url_key

-- name: delete_domain_report
DELETE FROM domain_report WHERE bucket = %(bucket)s AND domain = %(domain)s

-- name: delete_assumption
DELETE FROM domain_report WHERE bucket = %(bucket)s AND domain = %(domain)s AND subject IS NULL

-- name: list_reported_hosts
-- The hosts on a domain and below it whose URLs are reported, with the number of these URLs.
SELECT host.host, count(*)
FROM report
JOIN host USING (bucket, host_key)
JOIN url USING (bucket, host_key, url_key)
WHERE report.bucket = %(bucket)s AND report.day > %(over)s AND url.orphaned IS NULL
    AND host.reversed >= %(first)s AND host.reversed < %(end)s
GROUP BY host.host

-- name: list_hosts
-- The hosts of at most `limit` watched URLs on a domain and below it, with the number of these URLs.
SELECT host, host_key, count(*)
FROM (
    SELECT host.host, host.host_key
    FROM host JOIN url USING (bucket, host_key)
    WHERE bucket = %(bucket)s AND host.reversed >= %(first)s AND host.reversed < %(end)s
        AND url.orphaned IS NULL AND host_key <> ALL(%(foreign)s::bigint[])
    LIMIT %(limit)s
) AS known
GROUP BY host, host_key

-- name: delete_old_reports
-- by shard: the order does not matter.
-- Locked rows are skipped: a report that is being renewed is not old.
DELETE FROM report
USING (
    SELECT bucket, host_key, url_key FROM report WHERE day <= %(over)s LIMIT %(limit)s FOR UPDATE SKIP LOCKED
) AS old
WHERE report.bucket = old.bucket AND report.host_key = old.host_key AND report.url_key = old.url_key

-- name: delete_old_domain_reports
DELETE FROM domain_report
USING (
    SELECT bucket, domain FROM domain_report WHERE day <= %(over)s LIMIT %(limit)s FOR UPDATE SKIP LOCKED
) AS old
WHERE domain_report.bucket = old.bucket AND domain_report.domain = old.domain
