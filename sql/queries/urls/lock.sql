-- The locks that writers of URLs and hosts take first, in one order (docs/architecture.md, "Locks"). Each is a statement
-- of its own: a statement sees what was committed when it began, not what was committed while it waited for a lock.

-- name: lock_urls
-- Returns how many of these URLs there are.
SELECT count(*) FROM (
    SELECT FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
        AS given (bucket, host_key, url_key)
    JOIN url USING (bucket, host_key, url_key)
    ORDER BY url.bucket, url.host_key, url.url_key
    FOR NO KEY UPDATE OF url
) AS locked

-- name: lock_more_urls
-- Besides, of some hosts, all URLs whose newest check found the host itself failing (C-5).
SELECT count(*) FILTER (WHERE given) FROM (
    SELECT wanted.given FROM (
        SELECT bucket, host_key, url_key, bool_or(given) FROM (
            SELECT *, true FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
            UNION ALL
            SELECT bucket, host_key, url_key, false
            FROM unnest(%(of_bucket)s::smallint[], %(of_host_key)s::bigint[]) AS silent (bucket, host_key)
            JOIN url USING (bucket, host_key)
            WHERE status = ANY(%(statuses)s::smallint[])
        ) AS both_kinds (bucket, host_key, url_key, given)
        GROUP BY bucket, host_key, url_key
    ) AS wanted (bucket, host_key, url_key, given)
    JOIN url USING (bucket, host_key, url_key)
    ORDER BY url.bucket, url.host_key, url.url_key
    FOR NO KEY UPDATE OF url
) AS locked

-- name: keep_order
-- Without these, rows are found by the primary key only: one after the other as given, or all in its order (D-96).
SELECT set_config(name, 'off', true)
FROM unnest(ARRAY['enable_seqscan', 'enable_hashjoin', 'enable_bitmapscan']) AS setting (name)

-- name: lock_hosts
SELECT count(*) FROM (
    SELECT FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[]) AS given (bucket, host_key)
    JOIN host USING (bucket, host_key)
    ORDER BY host.bucket, host.host_key
    FOR NO KEY UPDATE OF host
) AS locked

-- name: list_there
SELECT url.bucket, url.host_key, url.url_key
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
    AS given (bucket, host_key, url_key)
JOIN url USING (bucket, host_key, url_key)
WHERE %(cited)s OR url.due <> 32767
