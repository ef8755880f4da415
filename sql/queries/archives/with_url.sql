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
USING unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[]) AS gone (bucket, host_key, url_key)
WHERE snapshot.bucket = gone.bucket AND snapshot.host_key = gone.host_key AND snapshot.url_key = gone.url_key

-- name: record_moved_snapshot
UPDATE snapshot SET bucket = given.new_bucket, host_key = given.new_host_key, url_key = given.new_url_key
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[],
    %(new_bucket)s::smallint[], %(new_host_key)s::bigint[], %(new_url_key)s::bigint[])
    AS given (bucket, host_key, url_key, new_bucket, new_host_key, new_url_key)
WHERE snapshot.bucket = given.bucket AND snapshot.host_key = given.host_key
    AND snapshot.url_key = given.url_key

-- name: delete_lookup
DELETE FROM lookup
USING unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[]) AS gone (bucket, host_key, url_key)
WHERE lookup.bucket = gone.bucket AND lookup.host_key = gone.host_key AND lookup.url_key = gone.url_key

-- name: record_moved_lookup
UPDATE lookup SET bucket = given.new_bucket, host_key = given.new_host_key, url_key = given.new_url_key
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[],
    %(new_bucket)s::smallint[], %(new_host_key)s::bigint[], %(new_url_key)s::bigint[])
    AS given (bucket, host_key, url_key, new_bucket, new_host_key, new_url_key)
WHERE lookup.bucket = given.bucket AND lookup.host_key = given.host_key
    AND lookup.url_key = given.url_key

-- name: delete_copy_queue
DELETE FROM copy_queue
USING unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[]) AS gone (bucket, host_key, url_key)
WHERE copy_queue.bucket = gone.bucket AND copy_queue.host_key = gone.host_key AND copy_queue.url_key = gone.url_key

-- name: record_moved_copy_queue
UPDATE copy_queue SET bucket = given.new_bucket, host_key = given.new_host_key, url_key = given.new_url_key
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[],
    %(new_bucket)s::smallint[], %(new_host_key)s::bigint[], %(new_url_key)s::bigint[])
    AS given (bucket, host_key, url_key, new_bucket, new_host_key, new_url_key)
WHERE copy_queue.bucket = given.bucket AND copy_queue.host_key = given.host_key
    AND copy_queue.url_key = given.url_key

-- name: delete_changing_page
DELETE FROM changing_page
USING unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[]) AS gone (bucket, host_key, url_key)
WHERE changing_page.bucket = gone.bucket AND changing_page.host_key = gone.host_key
    AND changing_page.url_key = gone.url_key

-- name: record_moved_changing_page
UPDATE changing_page SET bucket = given.new_bucket, host_key = given.new_host_key, url_key = given.new_url_key
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[],
    %(new_bucket)s::smallint[], %(new_host_key)s::bigint[], %(new_url_key)s::bigint[])
    AS given (bucket, host_key, url_key, new_bucket, new_host_key, new_url_key)
WHERE changing_page.bucket = given.bucket AND changing_page.host_key = given.host_key
    AND changing_page.url_key = given.url_key

-- name: delete_saving
DELETE FROM saving
USING unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[]) AS gone (bucket, host_key, url_key)
WHERE saving.bucket = gone.bucket AND saving.host_key = gone.host_key AND saving.url_key = gone.url_key

-- name: record_moved_saving
UPDATE saving SET bucket = given.new_bucket, host_key = given.new_host_key, url_key = given.new_url_key
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[],
    %(new_bucket)s::smallint[], %(new_host_key)s::bigint[], %(new_url_key)s::bigint[])
    AS given (bucket, host_key, url_key, new_bucket, new_host_key, new_url_key)
WHERE saving.bucket = given.bucket AND saving.host_key = given.host_key
    AND saving.url_key = given.url_key

-- name: delete_cited_copy
DELETE FROM cited_copy
USING unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[]) AS gone (bucket, host_key, url_key)
WHERE cited_copy.bucket = gone.bucket AND cited_copy.host_key = gone.host_key AND cited_copy.url_key = gone.url_key

-- name: record_moved_cited_copy
UPDATE cited_copy SET bucket = given.new_bucket, host_key = given.new_host_key, url_key = given.new_url_key
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[],
    %(new_bucket)s::smallint[], %(new_host_key)s::bigint[], %(new_url_key)s::bigint[])
    AS given (bucket, host_key, url_key, new_bucket, new_host_key, new_url_key)
WHERE cited_copy.bucket = given.bucket AND cited_copy.host_key = given.host_key
    AND cited_copy.url_key = given.url_key

