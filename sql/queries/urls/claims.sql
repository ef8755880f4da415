-- What people said of URLs (H, A-4), for answers.

-- name: list_notes
-- One row for each replacement that works, else a single row. A domain report without a subject is an assumption (H-3).
SELECT given.bucket, given.host_key, given.url_key, report.day,
    CASE WHEN domain_report.subject IS NOT NULL THEN domain_report.day END,
    CASE WHEN domain_report.subject IS NULL THEN domain_report.day END,
    replacement.archive, replacement.target
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[], %(domain)s::text[])
    AS given (bucket, host_key, url_key, domain)
LEFT JOIN report USING (bucket, host_key, url_key)
LEFT JOIN domain_report ON domain_report.bucket = given.bucket AND domain_report.domain = given.domain
LEFT JOIN replacement ON replacement.bucket = given.bucket AND replacement.host_key = given.host_key
    AND replacement.url_key = given.url_key AND replacement.works
WHERE report.day IS NOT NULL OR domain_report.day IS NOT NULL OR replacement.target IS NOT NULL
