-- What services said of the copies of URLs (A-2).

-- name: record_lookups
INSERT INTO lookup (bucket, host_key, url_key, archive, outcome, asked, due, failures, passed)
SELECT * FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[], %(archive)s::smallint[],
    %(outcome)s::smallint[], %(asked)s::smallint[], %(due)s::smallint[], %(failures)s::smallint[], %(passed)s::text[])
    AS given (bucket, host_key, url_key, archive, outcome, asked, due, failures, passed)
ORDER BY bucket, host_key, url_key, archive
ON CONFLICT (bucket, host_key, url_key, archive) DO UPDATE
SET outcome = excluded.outcome, asked = excluded.asked, due = excluded.due, failures = excluded.failures,
    passed = excluded.passed

-- name: list_lookups
SELECT bucket, host_key, url_key, archive, outcome, asked, due, failures, passed
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
    AS given (bucket, host_key, url_key)
JOIN lookup USING (bucket, host_key, url_key)
ORDER BY archive
