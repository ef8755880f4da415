-- What the archives' tables keep of a URL comes, goes and moves with the URL itself.

-- name: lock_kept
-- Those of these URLs that are there and are not being deleted, which then waits until the transaction ends. Nobody
-- waits here: only a deletion locks URLs so that this passes over them.
SELECT url.bucket, url.host_key, url.url_key
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
    AS given (bucket, host_key, url_key)
CROSS JOIN LATERAL (
    SELECT * FROM url
    WHERE url.bucket = given.bucket AND url.host_key = given.host_key AND url.url_key = given.url_key
    LIMIT 1
    FOR KEY SHARE SKIP LOCKED
) AS url

-- name: lock_kept_waiting
-- The same, in the order of keys; a deletion under way is waited for.
SELECT url.bucket, url.host_key, url.url_key
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
    AS given (bucket, host_key, url_key)
JOIN url USING (bucket, host_key, url_key)
ORDER BY url.bucket, url.host_key, url.url_key
FOR KEY SHARE OF url

-- name: list_plain_urls
SELECT url.bucket, url.host_key, url.url_key, url.scheme, host.host, url.port, url.path
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
    AS given (bucket, host_key, url_key)
CROSS JOIN LATERAL (
    SELECT * FROM url
    WHERE url.bucket = given.bucket AND url.host_key = given.host_key AND url.url_key = given.url_key
    LIMIT 1
) AS url
JOIN host ON host.bucket = url.bucket AND host.host_key = url.host_key

-- name: delete_snapshot
DELETE FROM snapshot
USING (
    SELECT asked.* FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
        AS asked (bucket, host_key, url_key)
    JOIN snapshot USING (bucket, host_key, url_key)
    ORDER BY snapshot.bucket, snapshot.host_key, snapshot.url_key, snapshot.archive
    FOR UPDATE OF snapshot
) AS gone
WHERE snapshot.bucket = gone.bucket AND snapshot.host_key = gone.host_key AND snapshot.url_key = gone.url_key

-- name: record_moved_snapshot
-- under lock: urls/lock lock_urls, of the same URLs before, which have moved by now.
WITH gone AS (
    DELETE FROM snapshot
    USING unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[],
        %(new_bucket)s::smallint[], %(new_host_key)s::bigint[], %(new_url_key)s::bigint[])
        AS given (bucket, host_key, url_key, new_bucket, new_host_key, new_url_key)
    WHERE snapshot.bucket = given.bucket AND snapshot.host_key = given.host_key AND snapshot.url_key = given.url_key
    RETURNING snapshot AS before, given.new_bucket, given.new_host_key, given.new_url_key
)
INSERT INTO snapshot SELECT moved.* FROM gone CROSS JOIN LATERAL jsonb_populate_record(before, jsonb_build_object(
    'bucket', new_bucket, 'host_key', new_host_key, 'url_key', new_url_key)) AS moved

-- name: delete_lookup
DELETE FROM lookup
USING (
    SELECT asked.* FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
        AS asked (bucket, host_key, url_key)
    JOIN lookup USING (bucket, host_key, url_key)
    ORDER BY lookup.bucket, lookup.host_key, lookup.url_key, lookup.archive
    FOR UPDATE OF lookup
) AS gone
WHERE lookup.bucket = gone.bucket AND lookup.host_key = gone.host_key AND lookup.url_key = gone.url_key

-- name: record_moved_lookup
-- under lock: urls/lock lock_urls, of the same URLs before, which have moved by now.
WITH gone AS (
    DELETE FROM lookup
    USING unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[],
        %(new_bucket)s::smallint[], %(new_host_key)s::bigint[], %(new_url_key)s::bigint[])
        AS given (bucket, host_key, url_key, new_bucket, new_host_key, new_url_key)
    WHERE lookup.bucket = given.bucket AND lookup.host_key = given.host_key AND lookup.url_key = given.url_key
    RETURNING lookup AS before, given.new_bucket, given.new_host_key, given.new_url_key
)
INSERT INTO lookup SELECT moved.* FROM gone CROSS JOIN LATERAL jsonb_populate_record(before, jsonb_build_object(
    'bucket', new_bucket, 'host_key', new_host_key, 'url_key', new_url_key)) AS moved

-- name: delete_copy_queue
DELETE FROM copy_queue
USING (
    SELECT asked.* FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
        AS asked (bucket, host_key, url_key)
    JOIN copy_queue USING (bucket, host_key, url_key)
    ORDER BY copy_queue.bucket, copy_queue.host_key, copy_queue.url_key
    FOR UPDATE OF copy_queue
) AS gone
WHERE copy_queue.bucket = gone.bucket AND copy_queue.host_key = gone.host_key AND copy_queue.url_key = gone.url_key

-- name: record_moved_copy_queue
-- under lock: urls/lock lock_urls, of the same URLs before, which have moved by now.
UPDATE copy_queue SET bucket = given.new_bucket, host_key = given.new_host_key, url_key = given.new_url_key
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[],
    %(new_bucket)s::smallint[], %(new_host_key)s::bigint[], %(new_url_key)s::bigint[])
    AS given (bucket, host_key, url_key, new_bucket, new_host_key, new_url_key)
WHERE copy_queue.bucket = given.bucket AND copy_queue.host_key = given.host_key
    AND copy_queue.url_key = given.url_key

-- name: delete_changing_page
DELETE FROM changing_page
USING (
    SELECT asked.* FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
        AS asked (bucket, host_key, url_key)
    JOIN changing_page USING (bucket, host_key, url_key)
    ORDER BY changing_page.bucket, changing_page.host_key, changing_page.url_key
    FOR UPDATE OF changing_page
) AS gone
WHERE changing_page.bucket = gone.bucket AND changing_page.host_key = gone.host_key
    AND changing_page.url_key = gone.url_key

-- name: record_moved_changing_page
-- under lock: urls/lock lock_urls, of the same URLs before, which have moved by now.
UPDATE changing_page SET bucket = given.new_bucket, host_key = given.new_host_key, url_key = given.new_url_key
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[],
    %(new_bucket)s::smallint[], %(new_host_key)s::bigint[], %(new_url_key)s::bigint[])
    AS given (bucket, host_key, url_key, new_bucket, new_host_key, new_url_key)
WHERE changing_page.bucket = given.bucket AND changing_page.host_key = given.host_key
    AND changing_page.url_key = given.url_key

-- name: delete_saving
DELETE FROM saving
USING (
    SELECT asked.* FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
        AS asked (bucket, host_key, url_key)
    JOIN saving USING (bucket, host_key, url_key)
    ORDER BY saving.bucket, saving.host_key, saving.url_key
    FOR UPDATE OF saving
) AS gone
WHERE saving.bucket = gone.bucket AND saving.host_key = gone.host_key AND saving.url_key = gone.url_key

-- name: record_moved_saving
-- under lock: urls/lock lock_urls, of the same URLs before, which have moved by now.
UPDATE saving SET bucket = given.new_bucket, host_key = given.new_host_key, url_key = given.new_url_key
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[],
    %(new_bucket)s::smallint[], %(new_host_key)s::bigint[], %(new_url_key)s::bigint[])
    AS given (bucket, host_key, url_key, new_bucket, new_host_key, new_url_key)
WHERE saving.bucket = given.bucket AND saving.host_key = given.host_key
    AND saving.url_key = given.url_key

-- name: delete_cited_copy
DELETE FROM cited_copy
USING (
    SELECT asked.* FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
        AS asked (bucket, host_key, url_key)
    JOIN cited_copy USING (bucket, host_key, url_key)
    ORDER BY cited_copy.bucket, cited_copy.host_key, cited_copy.url_key
    FOR UPDATE OF cited_copy
) AS gone
WHERE cited_copy.bucket = gone.bucket AND cited_copy.host_key = gone.host_key AND cited_copy.url_key = gone.url_key

-- name: record_moved_cited_copy
-- under lock: urls/lock lock_urls, of the same URLs before, which have moved by now.
WITH gone AS (
    DELETE FROM cited_copy
    USING unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[],
        %(new_bucket)s::smallint[], %(new_host_key)s::bigint[], %(new_url_key)s::bigint[])
        AS given (bucket, host_key, url_key, new_bucket, new_host_key, new_url_key)
    WHERE cited_copy.bucket = given.bucket AND cited_copy.host_key = given.host_key AND cited_copy.url_key = given.url_key
    RETURNING cited_copy AS before, given.new_bucket, given.new_host_key, given.new_url_key
)
INSERT INTO cited_copy SELECT moved.* FROM gone CROSS JOIN LATERAL jsonb_populate_record(before, jsonb_build_object(
    'bucket', new_bucket, 'host_key', new_host_key, 'url_key', new_url_key)) AS moved

