-- Details of URLs for answers: claims (H, A-4), what is kept of copies (A-1, W-8).

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

-- name: list_kept
-- One row for each snapshot (its outcome is NULL) and for each look-up (its stamp is NULL). LATERAL, so that each URL
-- is found by its full key.
SELECT given.bucket, given.host_key, given.url_key, kept.*
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
    AS given (bucket, host_key, url_key)
CROSS JOIN LATERAL (
    SELECT archive, NULL::smallint AS outcome, asked, due, NULL AS passed, stamp, origin, wanted, note, address,
        strikes, preview
    FROM snapshot
    WHERE snapshot.bucket = given.bucket AND snapshot.host_key = given.host_key AND snapshot.url_key = given.url_key
    UNION ALL
    SELECT archive, outcome, asked, due, passed, NULL, NULL, NULL, NULL, NULL, NULL, NULL
    FROM lookup
    WHERE lookup.bucket = given.bucket AND lookup.host_key = given.host_key AND lookup.url_key = given.url_key
) AS kept

-- name: list_visits
-- When cited copies are visited next. LATERAL, so that each is found by its full key.
SELECT given.bucket, given.host_key, given.url_key, cited.due
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
    AS given (bucket, host_key, url_key)
CROSS JOIN LATERAL (
    SELECT due FROM cited_copy
    WHERE cited_copy.bucket = given.bucket AND cited_copy.host_key = given.host_key
        AND cited_copy.url_key = given.url_key
) AS cited
