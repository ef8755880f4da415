-- The watched URLs that are themselves copies in an archive (A-2). Their due day is 32767, so no round visits them.

-- name: record_cited
INSERT INTO cited_copy (bucket, host_key, url_key, archive, original_bucket, original_host_key, original_url_key, stamp,
    due)
SELECT * FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[], %(archive)s::smallint[],
    %(original_bucket)s::smallint[], %(original_host_key)s::bigint[], %(original_url_key)s::bigint[],
    %(stamp)s::bigint[], %(due)s::smallint[])
    AS given (bucket, host_key, url_key, archive, original_bucket, original_host_key, original_url_key, stamp, due)
ORDER BY bucket, host_key, url_key
ON CONFLICT DO NOTHING

-- name: delete_cited
DELETE FROM cited_copy
USING (
    SELECT asked.* FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
        AS asked (bucket, host_key, url_key)
    JOIN cited_copy USING (bucket, host_key, url_key)
    ORDER BY cited_copy.bucket, cited_copy.host_key, cited_copy.url_key
    FOR UPDATE OF cited_copy
) AS gone
WHERE cited_copy.bucket = gone.bucket AND cited_copy.host_key = gone.host_key AND cited_copy.url_key = gone.url_key

-- name: record_originals
-- After a rekey: what is meant is the same, by other keys.
-- under lock: urls/lock lock_urls, of the same URLs before.
UPDATE cited_copy SET original_bucket = given.original_bucket, original_host_key = given.original_host_key,
    original_url_key = given.original_url_key
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[],
    %(original_bucket)s::smallint[], %(original_host_key)s::bigint[], %(original_url_key)s::bigint[])
    AS given (bucket, host_key, url_key, original_bucket, original_host_key, original_url_key)
WHERE cited_copy.bucket = given.bucket AND cited_copy.host_key = given.host_key
    AND cited_copy.url_key = given.url_key
    AND cited_copy.original_bucket IS DISTINCT FROM given.original_bucket

-- name: record_named
-- What a short address shows, once its archive has said it.
UPDATE cited_copy SET original_bucket = %(original_bucket)s, original_host_key = %(original_host_key)s,
    original_url_key = %(original_url_key)s, stamp = %(stamp)s
WHERE bucket = %(bucket)s AND host_key = %(host_key)s AND url_key = %(url_key)s AND original_bucket IS NULL

-- name: list_all
-- fan-out: all of them, in the order of the primary key.
SELECT bucket, host_key, url_key FROM cited_copy
WHERE (host_key, url_key, bucket) > (%(host_key)s::bigint, %(url_key)s::bigint, %(bucket)s::smallint)
ORDER BY host_key, url_key, bucket
LIMIT %(limit)s

-- name: list_of_pages
-- The newest copies of each page, at most so many.
-- fan-out: copies are in the buckets of their archives, not of what they show.
-- by shard: the caller sorts them.
SELECT copy.*
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
    AS given (bucket, host_key, url_key)
CROSS JOIN LATERAL (
    SELECT bucket, host_key, url_key, archive, original_bucket, original_host_key, original_url_key, stamp, due
    FROM cited_copy
    WHERE cited_copy.original_bucket = given.bucket AND cited_copy.original_host_key = given.host_key
        AND cited_copy.original_url_key = given.url_key
    ORDER BY stamp DESC NULLS LAST, bucket, host_key, url_key
    LIMIT %(most)s
) AS copy

-- name: list_cited
SELECT bucket, host_key, url_key, archive, original_bucket, original_host_key, original_url_key, stamp, due
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
    AS given (bucket, host_key, url_key)
JOIN cited_copy USING (bucket, host_key, url_key)

-- name: lease_cited
-- fan-out: the few of each archive that are due, in any buckets, by index. Those that another worker has just taken are
-- passed over; those without use wait longer.
-- by shard: a lease may be of any.
WITH taken AS MATERIALIZED (
    SELECT first.* FROM unnest(%(archives)s::smallint[]) AS asked (archive)
    CROSS JOIN LATERAL (
        SELECT bucket, host_key, url_key FROM cited_copy
        WHERE cited_copy.archive = asked.archive AND due <= %(day)s
        ORDER BY due
        LIMIT %(limit)s
        FOR NO KEY UPDATE SKIP LOCKED
    ) AS first
)
UPDATE cited_copy SET due = CASE WHEN EXISTS (
        SELECT FROM url
        WHERE url.bucket = taken.bucket AND url.host_key = taken.host_key AND url.url_key = taken.url_key
            AND url.orphaned IS NOT NULL
    ) THEN %(later)s::smallint ELSE %(until)s::smallint END
FROM taken
WHERE cited_copy.bucket = taken.bucket AND cited_copy.host_key = taken.host_key
    AND cited_copy.url_key = taken.url_key
RETURNING cited_copy.bucket, cited_copy.host_key, cited_copy.url_key, cited_copy.archive, cited_copy.original_bucket,
    cited_copy.original_host_key, cited_copy.original_url_key, cited_copy.stamp, cited_copy.due

-- name: record_cited_due
UPDATE cited_copy SET due = given.due
FROM (
    SELECT bucket, host_key, url_key, given.due
    FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[], %(due)s::smallint[])
        AS given (bucket, host_key, url_key, due)
    JOIN cited_copy USING (bucket, host_key, url_key)
    ORDER BY bucket, host_key, url_key
    FOR NO KEY UPDATE OF cited_copy
) AS given
WHERE cited_copy.bucket = given.bucket AND cited_copy.host_key = given.host_key AND cited_copy.url_key = given.url_key

-- name: list_in_rounds
-- URLs of one host that the link checker may visit, from a due day and a key on, in the order of the index.
SELECT url.bucket, url.host_key, url.url_key, url.scheme, host.host, url.port, url.path, url.due
FROM host CROSS JOIN LATERAL (
    SELECT * FROM url
    WHERE url.bucket = host.bucket AND url.host_key = host.host_key AND url.orphaned IS NULL
        AND url.due >= %(due)s AND (url.due > %(due)s OR url.url_key > %(url_key)s) AND url.due < 32767
    ORDER BY url.due, url.url_key
    LIMIT %(limit)s
) AS url
WHERE host.bucket = %(bucket)s AND host.host_key = %(host_key)s

-- name: record_never_due
UPDATE url SET due = 32767
FROM (
    SELECT asked.* FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
        AS asked (bucket, host_key, url_key)
    JOIN url USING (bucket, host_key, url_key)
    ORDER BY url.bucket, url.host_key, url.url_key
    FOR NO KEY UPDATE OF url
) AS given
WHERE url.bucket = given.bucket AND url.host_key = given.host_key AND url.url_key = given.url_key

-- name: record_untried
UPDATE url SET status = 0, since = NULL, asked = NULL, older = NULL, strikes = 0, failing_since = NULL,
    failing_until = NULL, evidence = NULL, reason = NULL, target = NULL, mime = NULL, size_kib = NULL, http = NULL,
    state_since = NULL, portrait = NULL
FROM (
    SELECT asked.* FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
        AS asked (bucket, host_key, url_key)
    JOIN url USING (bucket, host_key, url_key)
    ORDER BY url.bucket, url.host_key, url.url_key
    FOR NO KEY UPDATE OF url
) AS given
WHERE url.bucket = given.bucket AND url.host_key = given.host_key AND url.url_key = given.url_key

-- name: record_due_again
-- URLs that were never due without being cited copies: ordinary links again.
UPDATE url SET due = %(day)s
FROM (
    SELECT asked.* FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
        AS asked (bucket, host_key, url_key)
    JOIN url USING (bucket, host_key, url_key)
    WHERE url.due = 32767
    ORDER BY url.bucket, url.host_key, url.url_key
    FOR NO KEY UPDATE OF url
) AS given
WHERE url.bucket = given.bucket AND url.host_key = given.host_key AND url.url_key = given.url_key AND url.due = 32767

-- name: list_justified
-- Of these copies of pages, by archive and moment, those that are cited.
-- fan-out: other copies of the same page may be in any bucket.
SELECT DISTINCT original_bucket, original_host_key, original_url_key, archive, stamp
FROM unnest(%(original_bucket)s::smallint[], %(original_host_key)s::bigint[], %(original_url_key)s::bigint[],
    %(archive)s::smallint[], %(stamp)s::bigint[])
    AS given (original_bucket, original_host_key, original_url_key, archive, stamp)
JOIN cited_copy USING (original_bucket, original_host_key, original_url_key, archive, stamp)

-- name: delete_unjustified
-- The snapshots that nothing but cited copies has shown, unless one of them was played.
DELETE FROM snapshot
USING (
    SELECT snapshot.bucket, snapshot.host_key, snapshot.url_key, snapshot.archive
    FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[], %(archive)s::smallint[],
        %(stamp)s::bigint[])
        AS given (bucket, host_key, url_key, archive, stamp)
    JOIN snapshot USING (bucket, host_key, url_key, archive, stamp)
    WHERE snapshot.origin = %(origin)s AND snapshot.asked IS NULL
    ORDER BY snapshot.bucket, snapshot.host_key, snapshot.url_key, snapshot.archive
    FOR UPDATE OF snapshot
) AS gone
WHERE snapshot.bucket = gone.bucket AND snapshot.host_key = gone.host_key AND snapshot.url_key = gone.url_key
    AND snapshot.archive = gone.archive
