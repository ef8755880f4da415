-- The dead links of which their page already offers an archived copy (L-10).

-- name: list_wrong
-- The links to these URLs, on all pages or on some of a wiki, of which something else is recorded than holds: the page
-- links to a copy of the original, which is the same key for all spellings, and that copy is not dead itself. `dead`: only
-- dead links; of others nothing is recorded.
-- fan-out: copies are in the buckets of their archives, not of what they show.
SELECT link.wiki, link.page, link.bucket, link.host_key, link.url_key, ARRAY[dead.repaired, holds.repaired]
FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[], %(original_bucket)s::smallint[],
    %(original_host_key)s::bigint[], %(original_url_key)s::bigint[])
    AS given (bucket, host_key, url_key, original_bucket, original_host_key, original_url_key)
JOIN link USING (bucket, host_key, url_key)
LEFT JOIN dead ON dead.wiki = link.wiki AND dead.page = link.page AND dead.bucket = link.bucket
    AND dead.host_key = link.host_key AND dead.url_key = link.url_key
CROSS JOIN LATERAL (
    SELECT EXISTS (
        SELECT FROM cited_copy
        JOIN link AS use ON use.bucket = cited_copy.bucket AND use.host_key = cited_copy.host_key
            AND use.url_key = cited_copy.url_key AND use.wiki = link.wiki AND use.page = link.page
        WHERE cited_copy.original_bucket = given.original_bucket
            AND cited_copy.original_host_key = given.original_host_key
            AND cited_copy.original_url_key = given.original_url_key
            AND cited_copy.archive = ANY(%(offered)s::smallint[])
            AND NOT EXISTS (
                SELECT FROM dead AS gone
                WHERE gone.wiki = link.wiki AND gone.page = link.page AND gone.bucket = cited_copy.bucket
                    AND gone.host_key = cited_copy.host_key AND gone.url_key = cited_copy.url_key
                    AND gone.rule <> 1
            )
    ) AS repaired
) AS holds
WHERE (%(wiki)s::integer IS NULL OR (link.wiki = %(wiki)s::integer AND link.page = ANY(%(pages)s::integer[])))
    AND (dead.page IS NOT NULL OR NOT %(dead)s)
    AND dead.repaired IS DISTINCT FROM holds.repaired

-- name: record_repaired
-- under lock: urls/lock lock_urls, of the same URLs before; or an intake.
UPDATE dead SET repaired = given.repaired
FROM unnest(%(wiki)s::integer[], %(page)s::integer[], %(bucket)s::smallint[], %(host_key)s::bigint[],
    %(url_key)s::bigint[], %(repaired)s::boolean[]) AS given (wiki, page, bucket, host_key, url_key, repaired)
WHERE dead.wiki = given.wiki AND dead.page = given.page AND dead.bucket = given.bucket
    AND dead.host_key = given.host_key AND dead.url_key = given.url_key

-- name: list_repaired
-- Of some dead links of a wiki, each by its primary key.
SELECT dead.page, dead.bucket, dead.host_key, dead.url_key
FROM unnest(%(page)s::integer[], %(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[])
    AS given (page, bucket, host_key, url_key)
JOIN dead USING (page, bucket, host_key, url_key)
WHERE dead.wiki = %(wiki)s AND dead.repaired

-- name: list_unknown
-- fan-out: by an index that is empty but for links that something else made dead.
SELECT DISTINCT bucket, host_key, url_key FROM (
    SELECT bucket, host_key, url_key FROM dead WHERE repaired IS NULL LIMIT %(limit)s
) AS unknown
ORDER BY bucket, host_key, url_key

-- name: list_stretch
-- fan-out: by wiki and page, a range of the primary key.
SELECT DISTINCT bucket, host_key, url_key FROM dead
WHERE (wiki, page, bucket, host_key, url_key) > (%(wiki)s::integer, %(page)s::integer, %(bucket)s::smallint,
        %(host_key)s::bigint, %(url_key)s::bigint)
    AND (wiki, page, bucket, host_key, url_key) <= (%(to_wiki)s::integer, %(to_page)s::integer,
        %(to_bucket)s::smallint, %(to_host_key)s::bigint, %(to_url_key)s::bigint)
    AND mod(page, %(parts)s) = %(part)s AND repaired IS NOT NULL
